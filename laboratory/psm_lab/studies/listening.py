"""Study ``listening``: beacon-by-beacon policies compared with a fixed rule, controls and the optimum.

Traces, policies and claims were fixed before the seeds of the study were run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import sub, truediv
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from psm_lab.push_traffic import PUSH_KINDS, push_workload
from psm_lab.studies.published_claims import OPEN_AGREEMENT, judge, study_texts
from psm_lab.studies.study import Findings, Scale, Table, table_of_means
from psm_lab.studies.tasks import Row, Rows, Task, optimum_task
from psm_sim.common.summary_stats import Interval, confidence_interval
from psm_sim.network import load_topology
from psm_sim.simulation import Result, Scenario, run_comparison
from psm_sim.simulation.table import usage_of

FIRST_SEED = 5000
"""Offset of the seeds. No choice was made on any seed of the study."""

_TUNING = 900
"""Offset of the extra seed on which random listening is matched to the learners."""

_MAX_DOZE_S = 1.2  # 12 beacons, the longest of INTERVALS


class TraceCase(NamedTuple):
    """Trace of the study with its title and the pages of a full and a quick run.

    If ``pages`` or ``quick_pages`` is None, the scale determines the number of pages. ``weight`` is the run
    time of a page relative to ``ucb``.
    """

    trace: str
    title: str
    pages: int | None
    quick_pages: int | None
    weight: int = 1

    def scenario(self, scale: Scale, seed: int) -> Scenario:
        """Return the scenario of one run at a *scale*, with a *seed* beyond :data:`FIRST_SEED`."""
        pages = (self.pages if scale.pages >= 100 else self.quick_pages) or scale.pages
        kind = self.trace.removeprefix("pushes:kind=")
        trace = push_workload(kind, pages, FIRST_SEED + seed) if kind in PUSH_KINDS else self.trace
        return Scenario(trace, pages=pages, seed=FIRST_SEED + seed)


PAGE_TRACES = (
    TraceCase("ucb", "ucb", None, None),
    TraceCase("ucb:server_delay_ms=650", "ucb, server delay 650 ms", None, None),
    TraceCase("ucb:server_delay_ms=none", "ucb, no server delay", None, None),
    TraceCase("shifting", "shifting", 314, 120),
    TraceCase("modern", "modern", 30, 8, weight=12),
)
"""Traces of pages; 314 pages are one round of the regimes of ``shifting``."""

PUSH_TRACES = tuple(
    TraceCase(f"pushes:kind={kind}", f"pushes, {kind}", 2, 1, weight=40) for kind in PUSH_KINDS
)
"""Push traffic, with one page view at the end of each hour."""

INTERVALS = (1, 2, 3, 6, 9, 12)
"""Listen intervals of static PSM, up to the longest polling time of LPSM."""

LEARNERS = (
    "listen:learner=cbgz,b=0.03",
    "listen:learner=cbgz,b=0.3",
    "listen:learner=cbgz,b=0.03,weight=10",
    "listen:learner=cbgz2,b=0.003",
    "listen:learner=cbgz2,b=0.03",
    "listen:learner=lasec,b=0.003",
    "listen:learner=lasec,b=0.03",
    "listen:learner=cbgz2,b=0.003,context=false",
    "listen:learner=dkm,R=32",
)
"""Active learners of the ``listen`` policy."""

PAGE_POLICIES = (
    "psm", "psm:listen_interval=2", "psm:listen_interval=3",
    "bsd:p=2", "bsd:p=1", "bsd:p=0.5",
    "lpsm", "lpsm:gamma=8e-7", "lpsm:gamma=5e-6", "lpsm:loss=inverse", "lpsm:context=outstanding",
    "outstanding", "outstanding:wait_ms=50", "outstanding:wait_ms=100",
    "listen:learner=random,b=0.1", "listen:learner=random,b=0.3", *LEARNERS,
    *(f"anticipate:price_w={price:g}" for price in (0.1, 0.3, 0.5, 1.0, 2.0, 5.0)),
)  # fmt: skip
"""Policies that load pages, including the controls."""

PUSH_POLICIES = (
    *(f"psm:listen_interval={interval}" for interval in INTERVALS),
    "bsd:p=1", "lpsm:gamma=2e-6", "lpsm:gamma=5e-6", "lpsm", "outstanding",
    "listen:learner=random,b=0.1", "listen:learner=random,b=0.3", *LEARNERS,
    *(f"anticipate:price_w={price:g}" for price in (0.05, 0.1, 0.2, 0.5, 1.0, 3.0)),
)  # fmt: skip
"""Policies that receive pushes."""


MATCHED = LEARNERS[:4]
"""Learners that are compared with random listening to equally many beacons."""


def family_of(policy: str) -> str:
    """Return the family of a policy, which is one curve of the figure."""
    name, _, parameters = policy.partition(":")
    if name == "listen":
        return parameters.partition("learner=")[2].partition(",")[0]
    return name


_TRIED = (0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0)
"""Probabilities of random listening; the number of received beacons is interpolated between them."""


def run_policies(policies: Sequence[str], scenario: Scenario) -> list[Row]:
    """Run *policies* over the same pages and return one row per policy."""
    return [_row(run, scenario) for run in run_comparison(policies, scenario).runs]


def run_matched(tuning: Scenario, scenarios: Sequence[Scenario], learners: Sequence[str]) -> list[Row]:
    """Run random listening, matched to the number of beacons that each learner receives.

    There is one row per learner and scenario. The probability is matched on the scenario *tuning*, and then
    used for the *scenarios*.
    """
    candidates = [f"listen:learner=random,b={probability:g}" for probability in _TRIED]
    beacons = [run["beacons_per_page"] for run in run_comparison([*candidates, *learners], tuning).runs]
    grid, targets = np.array(beacons[: len(candidates)]), beacons[len(candidates) :]
    order = np.argsort(grid)
    probabilities = np.exp(np.interp(targets, grid[order], np.log(_TRIED)[order])).tolist()
    policies = [f"listen:learner=random,b={probability:.6g}" for probability in probabilities]
    return [
        {**row, "matches": learner}
        for scenario in scenarios
        for row, learner in zip(run_policies(policies, scenario), learners, strict=True)
    ]


def _unforced(row: Row) -> float:
    """Return the share of received beacons that were not forced; 0 for a policy without these counts."""
    listens = row.get("policy_report.listens")
    return 1 - row["policy_report.forced"] / listens if listens else 0.0


def _row(run: Result, scenario: Scenario) -> Row:
    asleep_w = scenario.resolve_topology().power.asleep_w
    row = run.row
    above_j = usage_of(row).total_j - asleep_w * row["simulated_s"]
    return {
        "seed": scenario.seed,
        "policy": run.policy,
        "energy_j": run.energy_per_page_j,
        "slowdown": row["slowdown.mean"],
        "slowdown_p95": row["slowdown.p95"],
        "beacons": row["beacons_per_page"],
        "above_j_per_h": 3600 * above_j / row["simulated_s"],
        "delay_s": row.get("pushes.delay_s.mean", 0.0),
        "delay_p95_s": row.get("pushes.delay_s.p95", 0.0),
        "unforced": _unforced(row),
    }


RULE = (
    "The rule was fixed beforehand. A claim compares two policies on the same pages. Each of its conditions"
    " compares a paired 95 % interval over seeds with a limit. The claim agrees on a trace if every interval"
    " lies on the claimed side. It differs if one interval lies on the other side, and is open otherwise."
)


class Condition(NamedTuple):
    """Condition that a quantity of a policy, compared with that of another policy, is below a limit.

    ``label`` names the compared quantity in the table. ``compare`` takes the values of both policies, which
    have one value per seed in the same order.
    """

    label: str
    quantity: str
    limit: float = 0.0
    compare: Callable[[pd.Series[float], pd.Series[float]], pd.Series[float]] = sub


class Case(NamedTuple):
    """Claim about a policy compared with another policy.

    ``against`` is a policy, ``matched`` for random listening to equally many beacons, or ``interval`` for a
    fixed listen interval of equal delay. ``traces`` are the traces of the claim.
    """

    number: int
    text: str
    policy: str
    against: str
    conditions: tuple[Condition, ...]
    traces: tuple[TraceCase, ...] = PAGE_TRACES


class Means(dict[str, Interval]):
    """Means over seeds by the label of their condition; a table shows them as text."""

    def __str__(self) -> str:
        return "; ".join(f"{label} {value:.3f}" for label, value in self.items())


def _slower_by(limit: float) -> Condition:
    return Condition("slowdown, difference", "slowdown", limit)


_ENERGY, _SLOWDOWN = Condition("J/page, difference", "energy_j"), _slower_by(0.0)
_BOTH = (_ENERGY, _SLOWDOWN)

CLAIMS = (
    Case(1, "anticipate at 0.1 W: less energy and less delay than LPSM", "anticipate:price_w=0.1", "lpsm",
         _BOTH),
    Case(
        2, "anticipate at 0.1 W: page times of static PSM with 9 % less energy", "anticipate:price_w=0.1",
        "psm",
        (Condition("J/page, ratio", "energy_j", 0.91, truediv), _slower_by(0.03)),
    ),
    Case(
        3, "anticipate at 2 W: less energy than BSD, and at most 0.03 more slowdown", "anticipate:price_w=2",
        "bsd:p=1",
        (_ENERGY, _slower_by(0.03)),
    ),
    Case(
        3, "anticipate at 2 W: less energy than BSD, and at most 0.01 more slowdown", "anticipate:price_w=2",
        "bsd:p=1",
        (_ENERGY, _slower_by(0.01)),
    ),
    Case(4, "outstanding: less energy and less delay than LPSM", "outstanding", "lpsm", _BOTH),
    Case(5, "listen: less energy and less delay than LPSM", "listen:learner=cbgz2,b=0.003",
         "lpsm", _BOTH),
    Case(6, "listen: less delay than random listening to equally many beacons",
         "listen:learner=cbgz,b=0.03", "matched", (_SLOWDOWN,)),
    Case(7, "listen: less energy and less delay than outstanding", "listen:learner=cbgz2,b=0.003",
         "outstanding", _BOTH),
    Case(8, "listen with DKM: at most one in five received beacons is unforced", "listen:learner=dkm,R=32",
         "psm", (Condition("unforced share", "unforced", 0.2, lambda policy, _: policy),)),
    Case(9, "anticipate on memoryless pushes: less energy than a fixed interval of equal delay",
         "anticipate:price_w=0.1", "interval",
         (Condition("J/h above sleep, ratio", "above_j_per_h", 1.0, truediv),),
         PUSH_TRACES[:1]),
    Case(10, "anticipate on periodic pushes: half of LPSM's delay with less energy",
         "anticipate:price_w=0.1", "lpsm",
         (Condition("delay, ratio", "delay_s", 0.5, truediv),
          Condition("J/h above sleep, difference", "above_j_per_h")),
         PUSH_TRACES[2:3]),
)  # fmt: skip
"""Claims of the study. A test checks number 11, the estimate of the misses, which no station knows."""


def judge_claims(runs: pd.DataFrame, matched: pd.DataFrame) -> pd.DataFrame:
    """Return one row per claim and trace, with the interval of each condition and the verdict.

    Parameters
    ----------
    runs : DataFrame
        Rows of all policies, traces and seeds.
    matched : DataFrame
        Rows of random listening, with the learner that each row ``matches``.
    """
    lines = []
    for case, traffic in [(claim, traffic) for claim in CLAIMS for traffic in claim.traces]:
        own = runs[runs["trace"] == traffic.trace]
        policy, other = _rows_of(own, case.policy), _rows_of(own, case.against)
        if case.against == "matched":
            other = _rows_of(matched[matched["trace"] == traffic.trace], case.policy, "matches")
        elif case.against == "interval":
            other = at_equal_delay(own, policy)
        means, verdict = judge_conditions(case.conditions, policy, other)
        claim = f"{case.number}. {case.text}"
        lines.append({"claim": claim, "trace": traffic.title, "result": means, "verdict": verdict})
    return pd.DataFrame(lines)


_WORST_FIRST = ("differs", "open", "agrees")


def judge_conditions(
    conditions: Sequence[Condition], policy: pd.DataFrame, other: pd.DataFrame
) -> tuple[Means, str]:
    """Return the mean of each condition, and the worst of their verdicts.

    *policy* and *other* are the rows of the compared policies.
    """
    means = Means(
        (each.label, confidence_interval(each.compare(policy[each.quantity], other[each.quantity])))
        for each in conditions
    )
    verdicts = {judge(means[each.label], high=each.limit, words=OPEN_AGREEMENT) for each in conditions}
    return means, next(verdict for verdict in _WORST_FIRST if verdict in verdicts)


def _rows_of(rows: pd.DataFrame, policy: str, column: str = "policy") -> pd.DataFrame:
    """Return the *rows* whose *column* is *policy*, indexed by seed."""
    return rows[rows[column] == policy].set_index("seed").sort_index()


def at_equal_delay(runs: pd.DataFrame, policy: pd.DataFrame) -> pd.DataFrame:
    """Return the energy of fixed listen intervals at the delays of a policy, interpolated for each seed.

    Between two intervals the energy is linear in the inverse of the delay, and so is the interpolation.

    Parameters
    ----------
    runs : DataFrame
        Rows of one trace, including the fixed intervals.
    policy : DataFrame
        Rows of the compared policy, by seed.
    """
    fixed = [_rows_of(runs, f"psm:listen_interval={interval}") for interval in reversed(INTERVALS)]
    rates = np.array([1 / interval["delay_s"] for interval in fixed])
    energies = np.array([interval["above_j_per_h"] for interval in fixed])
    needed = [np.interp(1 / s, rates[:, i], energies[:, i]) for i, s in enumerate(policy["delay_s"])]
    return policy.assign(above_j_per_h=needed)


def tasks(scale: Scale, seed: int) -> Sequence[Task]:
    """Return one task per trace and seed, and matched listening and the optimum for each page trace."""
    all_tasks: list[Task] = []
    for cases, policies in ((PAGE_TRACES, PAGE_POLICIES), (PUSH_TRACES, PUSH_POLICIES)):
        for case in cases:
            labels, scenarios = {"trace": case.trace}, [case.scenario(scale, n) for n in scale.seeds(seed)]
            pages = case.weight * scenarios[0].pages
            for scenario in scenarios:
                arguments: dict[str, Any] = {"policies": policies, "scenario": scenario}
                all_tasks.append(Task("listening", run_policies, arguments, pages * len(policies), labels))
            if cases is PAGE_TRACES:
                tuning = case.scenario(scale, seed + _TUNING)
                arguments = {"tuning": tuning, "scenarios": scenarios, "learners": MATCHED}
                matched_pages = pages * (len(_TRIED) + len(MATCHED) * (1 + len(scenarios)))
                all_tasks.append(Task("matched", run_matched, arguments, matched_pages, labels))
                all_tasks.append(optimum_task(scenarios[0], labels))
    return all_tasks


def digest(rows: Rows, scale: Scale, seed: int) -> Findings:
    """Return a table per trace, the claims, and the data of the figure."""
    runs, matched, optima = (pd.DataFrame(rows.of(kind)) for kind in ("listening", "matched", "optimum"))
    optima = optima[optima["allowed"] == "no delay"].set_index("trace")
    claims, tables, figure = judge_claims(runs, matched), [], []
    for case in PAGE_TRACES:
        own = runs[runs["trace"] == case.trace]
        # The no-delay optimum has no maximum doze. Add the beacons that a maximum requires in think times.
        pages = case.scenario(scale, seed).workload().pages
        beacons = sum(page.think_s for page in pages) / len(pages) / _MAX_DOZE_S
        optimum_j = optima["energy_j"][case.trace] + load_topology().power.beacon_j * beacons
        own = own.assign(
            difference=own["energy_j"] - own["seed"].map(_rows_of(own, "lpsm")["energy_j"]),
            above=100 * (own["energy_j"] / optimum_j - 1),
        )
        tables.append(Table(case.title, table_of_means(own, "policy", _PAGE_COLUMNS)))
        means = own.groupby("policy", sort=False)[["energy_j", "slowdown"]].mean().reset_index()
        figure.append(means.assign(title=case.title, hindsight_j=optimum_j))
    for case in PUSH_TRACES:
        own = runs[runs["trace"] == case.trace]
        own = own.assign(delay_ms=1000 * own["delay_s"], delay_p95_ms=1000 * own["delay_p95_s"])
        tables.append(Table(case.title, table_of_means(own, "policy", _PUSH_COLUMNS)))
    points = pd.concat(figure, ignore_index=True)
    compared = runs.rename(columns={"policy": "learner"}).merge(
        matched.rename(columns={"matches": "learner"}),
        on=["trace", "learner", "seed"],
        suffixes=("", "_random"),
    )
    return Findings(
        **study_texts("listening"),
        setting=f"{scale.replications} replications with seeds from {seed + FIRST_SEED} on, which no choice"
        " used",
        remarks=[RULE, _tally(claims)],
        tables=[
            Table("Claims fixed in advance", claims),
            *tables,
            Table(
                "Random listening compared with learners at equally many beacons",
                table_of_means(compared, ["trace", "learner"], _MATCHED_COLUMNS),
            ),
        ],
        figures={"listening": points.assign(family=points["policy"].map(family_of))},
    )


_PAGE_COLUMNS = {
    "J/page": ("energy_j", "{:.3f}"),
    "difference to LPSM": ("difference", "{:.3f}"),
    "slowdown": ("slowdown", "{:.3f}"),
    "p95": ("slowdown_p95", "{0.mean:.2f}"),
    "beacons": ("beacons", "{0.mean:.0f}"),
    "above offline optimum %": ("above", "{0.mean:.1f}"),
}
_PUSH_COLUMNS = {
    "J/h above sleep": ("above_j_per_h", "{:.2f}"),
    "delay ms": ("delay_ms", "{:.0f}"),
    "p95 ms": ("delay_p95_ms", "{0.mean:.0f}"),
}
_MATCHED_COLUMNS = {
    "beacons of the learner": ("beacons", "{0.mean:.0f}"),
    "slowdown of the learner": ("slowdown", "{:.2f}"),
    "beacons of random listening": ("beacons_random", "{0.mean:.0f}"),
    "slowdown of random listening": ("slowdown_random", "{:.2f}"),
}


def _tally(claims: pd.DataFrame) -> str:
    counts = claims["verdict"].value_counts()
    text = ", ".join(f"{counts[name]} {name}" for name in ("agrees", "open", "differs") if name in counts)
    return (
        f"Verdicts: {text}, {len(claims)} in total. With intervals of 95 % about"
        f" {0.05 * len(claims):.0f} of them would be wrong by chance. Claims 7 and 9 are expected to fail."
    )
