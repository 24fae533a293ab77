"""Study ``listening``: beacon-by-beacon policies compared with a fixed rule, controls and the optimum."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_lab.studies.listening.claims import RULE, judge_claims
from psm_lab.studies.listening.tasks import (
    LEARNERS,
    PAGE_POLICIES,
    PAGE_TRACES,
    PUSH_POLICIES,
    PUSH_TRACES,
    ListeningTask,
    MatchedTask,
    TraceCase,
    family_of,
)
from psm_lab.studies.study import Findings, Scale, Study, Table
from psm_lab.studies.tasks import OptimumTask, Rows, Task
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.network import load_topology
from psm_sim.simulation.scenario import Scenario

FIRST_SEED = 5000
"""Offset of the seeds. No choice was made on any seed of the study."""
_TUNING = 900
"""Offset of the extra seed on which random listening is matched to the learners."""
_MAX_DOZE_S = 1.2
_MATCHED = LEARNERS[:4]
_OPTIMUM = (
    "The offline optimum is the minimum energy without any delay, plus the beacons that the longest doze"
    " forces. A policy that delays replies can need less."
)


class ListeningStudy(Study):
    """All policies on all traces, the claims, and the offline optimum with the forced beacons."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one task per trace and seed, and matched listening and the optimum for each page trace."""
        tasks: list[Task] = []
        for cases, policies, weight in ((PAGE_TRACES, PAGE_POLICIES, 1), (PUSH_TRACES, PUSH_POLICIES, 40)):
            for case in cases:
                labels = {"trace": case.trace}
                tasks += [
                    ListeningTask(policies, scenario, labels, weight)
                    for scenario in _scenarios(case, scale, seed)
                ]
        for case in PAGE_TRACES:
            scenarios, labels = tuple(_scenarios(case, scale, seed)), {"trace": case.trace}
            tasks.append(MatchedTask(_scenario(case, scale, seed + _TUNING), scenarios, _MATCHED, labels))
            tasks.append(OptimumTask(scenarios[0], prices=0, labels=labels))
        return tasks

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return a table per trace, the claims, and the data of the figure."""
        runs, matched = pd.DataFrame(rows.of("listening")), pd.DataFrame(rows.of("matched"))
        optimum_j = _optimum_by_trace(pd.DataFrame(rows.of("optimum")), scale, seed)
        claims = judge_claims(runs, matched)
        first = seed + FIRST_SEED
        tables = [
            Table("Claims fixed in advance", claims),
            *(Table(f"{case.title}", _page_table(runs, case, optimum_j[case.trace])) for case in PAGE_TRACES),
            *(Table(f"{case.title}", _push_table(runs, case)) for case in PUSH_TRACES),
            Table(
                "Random listening compared with learners at equally many beacons",
                _matched_table(runs, matched),
            ),
        ]
        return Findings(
            "listening",
            "Policies that decide at each beacon whether to receive it",
            f"{scale.replications} replications with seeds from {first} on, which no choice used",
            remarks=[RULE, _tally(claims, scale)],
            commentary=[_OPTIMUM],
            tables=tables,
            figures={"listening": _figure(runs, optimum_j)},
        )


def _scenario(case: TraceCase, scale: Scale, seed: int) -> Scenario:
    return Scenario(case.trace, pages=case.pages_at(scale), seed=FIRST_SEED + seed)


def _scenarios(case: TraceCase, scale: Scale, seed: int) -> list[Scenario]:
    return [_scenario(case, scale, number) for number in scale.seeds(seed)]


def _optimum_by_trace(optima: pd.DataFrame, scale: Scale, seed: int) -> dict[str, float]:
    """Return the optimum without delay plus the forced beacons, in J per page, for each trace."""
    beacon_j = load_topology().power.beacon_j
    free = optima[optima["allowed"] == "no delay"].set_index("trace")["energy_j"]
    optimum_j = {}
    for case in PAGE_TRACES:
        pages = _scenario(case, scale, seed).workload().pages
        think_s = sum(page.think_s for page in pages) / len(pages)
        optimum_j[case.trace] = float(free[case.trace]) + beacon_j * think_s / _MAX_DOZE_S
    return optimum_j


def _tally(claims: pd.DataFrame, scale: Scale) -> str:
    counts = claims["verdict"].value_counts()
    text = ", ".join(f"{counts[name]} {name}" for name in ("agrees", "open", "differs") if name in counts)
    return (
        f"Verdicts: {text}, {len(claims)} in total. With intervals of 95 % about"
        f" {0.05 * len(claims):.0f} of them would be wrong by chance. Claims 7 and 9 are expected to fail."
    )


def _page_table(runs: pd.DataFrame, case: TraceCase, optimum_j: float) -> pd.DataFrame:
    selected = runs[runs["trace"] == case.trace]
    lpsm = selected[selected["policy"] == "lpsm"].set_index("seed")["energy_j"]
    rows = [
        {
            "policy": policy,
            "J/page": f"{confidence_interval(group['energy_j']):.3f}",
            "difference to LPSM": f"{confidence_interval(group.set_index('seed')['energy_j'] - lpsm):.3f}",
            "slowdown": f"{confidence_interval(group['slowdown']):.3f}",
            "p95": f"{group['slowdown_p95'].mean():.2f}",
            "beacons": f"{group['beacons'].mean():.0f}",
            "above offline optimum %": f"{100 * (group['energy_j'].mean() / optimum_j - 1):.1f}",
        }
        for policy, group in selected.groupby("policy", sort=False)
    ]
    return pd.DataFrame(rows)


def _push_table(runs: pd.DataFrame, case: TraceCase) -> pd.DataFrame:
    rows = [
        {
            "policy": policy,
            "J/h above sleep": f"{confidence_interval(group['above_j_per_h']):.2f}",
            "delay ms": f"{confidence_interval(1000 * group['delay_s']):.0f}",
            "p95 ms": f"{1000 * group['delay_p95_s'].mean():.0f}",
        }
        for policy, group in runs[runs["trace"] == case.trace].groupby("policy", sort=False)
    ]
    return pd.DataFrame(rows)


def _matched_table(runs: pd.DataFrame, matched: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (trace, learner), group in matched.groupby(["trace", "matches"], sort=False):
        own = runs[(runs["trace"] == trace) & (runs["policy"] == learner)]
        rows.append(
            {
                "trace": trace,
                "learner": learner,
                "beacons of the learner": f"{own['beacons'].mean():.0f}",
                "slowdown of the learner": f"{confidence_interval(own['slowdown']):.2f}",
                "beacons of random listening": f"{group['beacons'].mean():.0f}",
                "slowdown of random listening": f"{confidence_interval(group['slowdown']):.2f}",
            }
        )
    return pd.DataFrame(rows)


def _figure(runs: pd.DataFrame, optimum_j: dict[str, float]) -> pd.DataFrame:
    means = (
        runs[runs["trace"].isin(optimum_j)]
        .groupby(["trace", "policy"], sort=False)[["energy_j", "slowdown"]]
        .mean()
    )
    frame = means.reset_index()
    frame.insert(1, "family", [family_of(policy) for policy in frame["policy"]])
    frame["title"] = frame["trace"].map({case.trace: case.title for case in PAGE_TRACES})
    frame["hindsight_j"] = frame["trace"].map(optimum_j)
    return frame


STUDY = ListeningStudy()
