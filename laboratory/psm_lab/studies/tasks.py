"""Tasks of studies, their parallel execution, comparisons of policies, and offline optima."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np

from psm_sim.common.component_spec import Spec
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.provenance import digest_of
from psm_sim.common.run_many import run_many
from psm_sim.hindsight.offline_optimum import (
    OfflineOptimum,
    least_energy_j,
    offline_frontier,
    offline_optimum,
)
from psm_sim.hindsight.traffic_chain import evaluate_policy
from psm_sim.hindsight.traffic_chain_recorder import record_chain
from psm_sim.policies import make_policy
from psm_sim.simulation import Scenario, run_comparison
from psm_sim.simulation.run import page_times_s

Row = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """Call of a function that returns rows which depend only on its arguments. Any process can run it.

    Parameters
    ----------
    kind : str
        Name under which the function ``digest`` of a study looks up the rows.
    work : callable
        Function of a module, which returns rows.
    arguments : mapping
        Keyword arguments of the function; each value is a scenario or is determined by its text.
    weight : int
        Approximate duration, in any unit that all tasks of a run share.
    labels : mapping
        Columns that are added to the rows. They are not part of the key, so equal tasks run once.
    """

    kind: str
    work: Callable[..., list[Row]]
    arguments: Mapping[str, Any]
    weight: int = 1
    labels: Mapping[str, Any] = field(default_factory=dict)

    def key(self) -> str:
        """Return a hash of the function and its arguments, which determine the rows."""
        inputs = {name: _plain(value) for name, value in self.arguments.items()}
        return digest_of({"work": f"{self.work.__module__}.{self.work.__qualname__}", **inputs})

    def run(self) -> list[Row]:
        """Call the function and return its rows."""
        return self.work(**self.arguments)


def _plain(value: Any) -> Any:
    """Return *value* with each scenario replaced by its key."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.key() if isinstance(value, Scenario) else value


class Rows:
    """Rows of *tasks* by kind, in the order of the tasks. The first columns are the labels of the task.

    *results* are the rows of each task without its labels.
    """

    def __init__(self, tasks: Sequence[Task], results: Sequence[Sequence[Row]]) -> None:
        self._of_kind: dict[str, list[Row]] = {}
        for task, rows in zip(tasks, results, strict=True):
            self._of_kind.setdefault(task.kind, []).extend({**task.labels, **row} for row in rows)

    def of(self, kind: str) -> list[Row]:
        """Return the rows of all tasks of one kind."""
        return self._of_kind[kind]

    def __len__(self) -> int:
        return sum(map(len, self._of_kind.values()))


def run_groups(
    groups: Sequence[Sequence[Task]], workers: int = 1, progress: Progress = no_progress
) -> Iterator[Rows]:
    """Run the tasks of several groups in one pool, and yield the rows of each group when it has finished.

    Tasks with equal keys run once. The groups run one after the other, so that an interrupt loses only the
    last ones. In each group the heaviest tasks run first, so that no worker is left with a long task at the
    end.

    Parameters
    ----------
    groups : sequence of sequence of Task
        Tasks, each with its own seed and without shared state.
    workers : int
        Number of processes; -1 uses one per core. The rows do not depend on it.
    progress : callable
        Called after each task with the finished weight, the total weight and the number of tasks.
    """
    keys = [[task.key() for task in group] for group in groups]
    distinct: dict[str, Task] = {}
    for pair in zip(keys, groups, strict=True):
        for key, task in sorted(zip(*pair, strict=True), key=lambda item: -item[1].weight):
            distinct.setdefault(key, task)
    done = list(accumulate((task.weight for task in distinct.values()), initial=0))

    def report(number: int, total: int, *_: str) -> None:
        progress(done[number], done[-1], f"{total} tasks")

    runs = run_many(Task.run, list(distinct.values()), None if workers < 0 else workers, report)
    finished = zip(distinct, runs, strict=True)
    results: dict[str, list[Row]] = {}
    for group, names in zip(groups, keys, strict=True):
        while not results.keys() >= set(names):
            key, rows = next(finished)
            results[key] = rows
        yield Rows(group, [results[key] for key in names])


_SAMPLED = 4
"""Maximum number of tasks in a sample."""


def sample_rows(tasks: Sequence[Task]) -> list[Row]:
    """Run a few light tasks again, and return the scalars in the last row of each.

    A report stores these rows, and a test computes them anew. If they differ, the report is stale.

    Parameters
    ----------
    tasks : sequence of Task
        Tasks of a study. If tasks compare policies, the lightest comparisons with different labels run, each
        with a single policy. Otherwise the lightest task runs.
    """
    compared = {str(task.labels): task for task in tasks if "policies" in task.arguments}
    light = sorted(compared.values() or tasks, key=lambda task: task.weight)
    sample = light[: _SAMPLED if compared else 1]
    for number, task in enumerate(sample):
        if policies := task.arguments.get("policies"):
            one = policies[-1 - number * len(policies) // len(sample)]
            sample[number] = replace(task, arguments={**task.arguments, "policies": (one,)})
    rows = [task.run()[-1] for task in sample]
    return [{name: value for name, value in row.items() if np.isscalar(value)} for row in rows]


def comparison_task(
    policies: Sequence[str | Spec], scenario: Scenario, labels: Mapping[str, Any] | None = None
) -> Task:
    """Return the task of kind ``run`` that calls :func:`compare_policies`."""
    arguments = {"policies": tuple(policies), "scenario": scenario}
    return Task("run", compare_policies, arguments, scenario.pages * (1 + len(policies)), labels or {})


_STATES = "energy_by_state_per_page_j."


def compare_policies(policies: Sequence[str | Spec], scenario: Scenario) -> list[Row]:
    """Run *policies* on the same pages and return one row per policy.

    A row has the energy by state, the page times and the slowdown. ``time_ratio`` is the ratio of the mean
    page time to that without power saving.
    """
    comparison = run_comparison(policies, scenario)
    return [
        {
            "seed": scenario.seed,
            "policy": run.policy,
            "energy_j": run.energy_per_page_j,
            **{
                f"{name[len(_STATES) :]}_j": value
                for name, value in run.row.items()
                if name.startswith(_STATES)
            },
            "page_time_s": run["page_time_s.mean"],
            "slowdown": run["slowdown.mean"],
            "slowdown_max": run["slowdown.max"],
            "page_times_s": page_times_s(run.blocks[0]).tolist(),
            "time_ratio": run["page_time_s.mean"] / comparison.always_on["page_time_s.mean"],
        }
        for run in comparison.runs
    ]


def optimum_task(scenario: Scenario, labels: Mapping[str, Any] | None = None, **arguments: Any) -> Task:
    """Return the task of kind ``optimum`` that calls :func:`compute_optima` with these *arguments*."""
    prices, policies = arguments.get("prices", 0), arguments.get("policies", ())
    weight = scenario.pages * (1 + len(policies) + prices)
    return Task("optimum", compute_optima, {"scenario": scenario, **arguments}, weight, labels or {})


def compute_optima(
    scenario: Scenario, policies: Sequence[str] = (), bounds: Sequence[float] = (), prices: int = 0
) -> list[Row]:
    """Return offline optima on the event chain of one scenario, and the energy of policies on that chain.

    There is one row without delay, one for each bound p, one for each corner of the frontier, and one for
    each policy, with the minimum energy at the delay of that policy. At most *prices* prices are tried for
    the frontier; 0 disables it. Energies are in joules per page, delays in seconds per page.
    """
    chain, pages = record_chain(scenario.workload().pages, scenario.resolve_topology()), scenario.pages
    optima = [("no delay", offline_optimum(chain))]
    optima += [(f"p = {p:g}", offline_optimum(chain, 0.0, p)) for p in bounds]
    hull = offline_frontier(chain, prices) if prices else []
    optima += [("frontier", corner) for corner in hull]
    rows: list[Row] = [{"allowed": allowed} | _per_page(optimum, pages) for allowed, optimum in optima]
    for policy in policies:
        outcome = evaluate_policy(chain, make_policy(policy))
        least_j = least_energy_j(hull, outcome.delay_s) / pages
        labels = {"allowed": "policy", "policy": policy, "least_j": least_j}
        rows.append(labels | _per_page(OfflineOptimum(outcome.energy_j, outcome.delay_s), pages))
    return [{"seed": scenario.seed, **row} for row in rows]


def _per_page(optimum: OfflineOptimum, pages: int) -> Row:
    return {"energy_j": optimum.energy_j / pages, "delay_s": optimum.delay_s / pages}
