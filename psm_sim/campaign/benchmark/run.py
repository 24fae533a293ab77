"""Run of the benchmark: simulation of the policies as tasks of a sweep, and the offline optima."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any

from psm_sim.campaign.benchmark.cases import (
    PRICES,
    BenchmarkPlan,
    Case,
    policy_of,
    runs_of,
)
from psm_sim.campaign.benchmark.result import ALWAYS_ON, BenchmarkResult, Costs, facts_of
from psm_sim.campaign.sweep.grid import SweepTask
from psm_sim.campaign.sweep.run import TaskFailedError, run_sweep_tasks
from psm_sim.campaign.sweep.table import TaskRow, open_table
from psm_sim.common.component_spec import Spec, class_file
from psm_sim.common.errors import InputError
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.run_many import run_many
from psm_sim.hindsight.offline_optimum import offline_optimum
from psm_sim.hindsight.traffic_chain_recorder import record_costs
from psm_sim.policies.factory import POLICIES

MISSING_S = 60.0
"""Delay of a message that does not arrive, in seconds (a rule of the benchmark, ``docs/benchmark.md``)."""

ON_THE_WAY = 0.01
"""Share of the messages of a direction that may be on their way at the end of a run.

One more message may be on its way, however few messages there are.
"""


def run_benchmark(
    policies: Sequence[str],
    plan: BenchmarkPlan,
    store: Path | None = None,
    workers: int | None = None,
    progress: Progress = no_progress,
    known: BenchmarkResult | None = None,
) -> BenchmarkResult:
    """Simulate policies in all cases, and return the result.

    Parameters
    ----------
    policies : sequence of str
        Policy specs, in which placeholders are replaced by the price of the case.
    plan : BenchmarkPlan
        Cases and seeds.
    store : Path or None
        File in which finished tasks are stored, as a table of a sweep, so that later calls do not repeat
        them. None stores nothing.
    workers, progress
        See :func:`~psm_sim.campaign.sweep.run.run_sweep_tasks`.
    known : BenchmarkResult or None
        Earlier result of the same plan and data whose offline optima are used again. None computes them.

    Raises
    ------
    InputError
        If a policy cannot be initialised, or fails in a case.
    """
    for policy in policies:  # reports unknown names before the first task runs
        name = Spec.parse(policy, "policy").name
        if class_file(name) is None and name not in POLICIES.installed():
            POLICIES.get(name)
    names = list(dict.fromkeys([ALWAYS_ON, *policies]))
    facts, cases, seeds = facts_of(names, plan), plan.cases, plan.seeds
    keys = [(name, case, seed) for name in names for case in runs_of(name, cases) for seed in seeds]
    tasks = [SweepTask(policy_of(name, case), plan.scenario_of(case, seed)) for name, case, seed in keys]
    try:
        with open_table(store) as table:
            finished = run_sweep_tasks(tasks, table, workers, progress, fail_fast=True)
    except TaskFailedError as failure:
        name, case, seed = keys[tasks.index(failure.task)]
        raise InputError(
            f"policy {name} has no result for {case.traffic}, {case.radio}, seed {seed}: {failure}"
        ) from failure
    rows = dict(zip(keys, finished, strict=True))

    def costs(name: str, case: Case) -> Costs:
        pairs = [(rows[name, case, seed], rows[ALWAYS_ON, case.free, seed]) for seed in seeds]
        return Costs(
            tuple(row.measures["energy_per_page_j"] * row.pages for row, _ in pairs),
            tuple(_delay_s(row) - _delay_s(reference) for row, reference in pairs),
            tuple(float(row.measures["simulated_s"]) for row, _ in pairs),
        )

    facts["files"] = {**_opened_files(rows.values()), **facts["files"]}
    runs = {name: {case: costs(name, case) for case in runs_of(name, cases)} for name in names}
    chain_j = known.chain_j if known else optimum_costs(plan, workers)
    return BenchmarkResult(seeds, runs, chain_j, **facts)


def _opened_files(rows: Iterable[TaskRow]) -> dict[str, str]:
    """Return the digests of files that policies opened, by path; a path in the current folder is relative."""
    digests = {path: digest for row in rows for path, digest in row.files.items()}
    return {path.removeprefix(f"{Path.cwd()}{os.sep}"): digests[path] for path in sorted(digests)}


def _delay_s(row: TaskRow) -> float:
    """Return the total latency of the messages or, without messages, the total page time, in seconds."""
    sent = [name for name in row.measures if name.startswith("latency.") and name.endswith(".sent")]
    if not sent:
        return float(row.measures["page_time_s.mean"]) * row.pages
    return fsum(_latency_s(row.measures, name.removesuffix("sent")) for name in sent)


def _latency_s(measures: Mapping[str, Any], prefix: str) -> float:
    """Return the total latency of the messages of one direction, in seconds."""
    sent, delivered = measures[f"{prefix}sent"], measures[f"{prefix}delivered"]
    missing = max(0.0, sent - delivered - 1 - ON_THE_WAY * sent)
    return float(delivered * (measures[f"{prefix}latency_s.mean"] or 0.0) + MISSING_S * missing)


def optimum_costs(plan: BenchmarkPlan, workers: int | None = None) -> dict[Case, tuple[float, ...]]:
    """Return the cost of the offline optimum in each case for each seed, in joules.

    The result does not depend on the number of *workers*.
    """
    keys = [(plan, case, seed) for case in plan.cases if case == case.free for seed in plan.seeds]
    costs = run_many(_optimum_costs, keys, workers)
    costs_j = {(case, seed): each for (_, case, seed), each in zip(keys, costs, strict=True)}
    return {case: tuple(costs_j[case.free, seed][case.price] for seed in plan.seeds) for case in plan.cases}


def _optimum_costs(key: tuple[BenchmarkPlan, Case, int]) -> Mapping[float, float]:
    """Return the cost of the offline optimum at each price."""
    plan, case, seed = key
    scenario = plan.scenario_of(case, seed)
    chain, other_j = record_costs(scenario.workload(), scenario.resolve_topology())
    prices_w = {price: case._replace(price=price).price_w for price in PRICES}
    optima = {price: offline_optimum(chain, price_w) for price, price_w in prices_w.items()}
    return {
        price: other_j + optimum.energy_j + prices_w[price] * optimum.delay_s
        for price, optimum in optima.items()
    }
