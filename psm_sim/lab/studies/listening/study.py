"""Study ``listening``: policies that choose which beacons to hear, against rule, controls and hindsight."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psm_sim.campaign.optimum_task import OptimumTask
from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.listening.claims import RULE
from psm_sim.lab.studies.listening.settings import (
    LEARNERS,
    PAGE_POLICIES,
    PAGE_TRACES,
    PUSH_POLICIES,
    PUSH_TRACES,
    TraceCase,
    family_of,
)
from psm_sim.lab.studies.listening.task import ListeningTask, MatchedTask
from psm_sim.lab.studies.listening.verdicts import judge_claims
from psm_sim.lab.studies.study import Findings, Scale, Table
from psm_sim.network import load_topology
from psm_sim.simulation.scenario import Scenario
from psm_sim.summary_stats import confidence_interval

FIRST_SEED = 5000
"""Added to the seeds: no choice was made on any seed of the study."""
_TUNING = 900
"""Added to the first seed for the extra one on which random listening is matched."""
_MAX_DOZE_S = 1.2
_MATCHED = LEARNERS[:4]
_HINDSIGHT = (
    "Above hindsight: against the least energy without any delay, the forced listens added. A policy that"
    " delays replies can lie below it."
)


class ListeningStudy:
    """All policies on all traces, the claims, and hindsight's best with the forced listens added."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return one task per trace and seed, and for each trace of pages matched listening and hindsight."""
        found: list[Task] = []
        for places, policies, weight in ((PAGE_TRACES, PAGE_POLICIES, 1), (PUSH_TRACES, PUSH_POLICIES, 40)):
            for place in places:
                labels = {"trace": place.trace}
                found += [
                    ListeningTask(policies, scenario, labels, weight)
                    for scenario in _scenarios(place, scale, seed)
                ]
        for place in PAGE_TRACES:
            scenarios, labels = tuple(_scenarios(place, scale, seed)), {"trace": place.trace}
            found.append(MatchedTask(_scenario(place, scale, seed + _TUNING), scenarios, _MATCHED, labels))
            found.append(OptimumTask(scenarios[0], prices=0, labels=labels))
        return found

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return a table per trace, the claims, and the numbers of the figure.

        *rows*, *scale* and *seed* as :class:`~psm_sim.lab.studies.study.Study` says.
        """
        runs, matched = pd.DataFrame(rows.of("listening")), pd.DataFrame(rows.of("matched"))
        best = _least(pd.DataFrame(rows.of("optimum")), scale, seed)
        claims = judge_claims(runs, matched)
        first = seed + FIRST_SEED
        tables = [
            Table("Claims fixed in advance", claims),
            *(Table(f"{place.title}", _pages(runs, place, best[place.trace])) for place in PAGE_TRACES),
            *(Table(f"{place.title}", _pushes(runs, place)) for place in PUSH_TRACES),
            Table("Random listening to as many beacons as a learner", _matched(runs, matched)),
        ]
        return Findings(
            "listening",
            "Listening, and anticipating: which beacons are worth hearing",
            f"{scale.replications} replications, from seed {first}, none of which any choice was made on",
            remarks=[RULE, _chance(claims, scale)],
            commentary=[_HINDSIGHT],
            tables=tables,
            figures={"listening": _figure(runs, best)},
        )


def _scenario(place: TraceCase, scale: Scale, seed: int) -> Scenario:
    return Scenario(place.trace, pages=place.pages_at(scale), seed=FIRST_SEED + seed)


def _scenarios(place: TraceCase, scale: Scale, seed: int) -> list[Scenario]:
    return [_scenario(place, scale, each) for each in scale.seeds(seed)]


def _least(optima: pd.DataFrame, scale: Scale, seed: int) -> dict[str, float]:
    """Return for each trace hindsight's joules per page without delay, with the forced listens added."""
    beacon_j = load_topology().power.beacon_j
    free = optima[optima["allowed"] == "no delay"].set_index("trace")["energy_j"]
    found = {}
    for place in PAGE_TRACES:
        pages = _scenario(place, scale, seed).workload().pages
        think_s = sum(page.think_s for page in pages) / len(pages)
        found[place.trace] = float(free[place.trace]) + beacon_j * think_s / _MAX_DOZE_S
    return found


def _chance(claims: pd.DataFrame, scale: Scale) -> str:
    counts = claims["verdict"].value_counts()
    said = ", ".join(f"{counts[name]} {name}" for name in ("agrees", "open", "differs") if name in counts)
    return (
        f"Of {len(claims)} verdicts: {said}. With intervals of 95 % about {0.05 * len(claims):.0f} of them"
        f" would miss their side by chance. Claims 7 and 9 are expected to fail."
    )


def _pages(runs: pd.DataFrame, place: TraceCase, least_j: float) -> pd.DataFrame:
    here = runs[runs["trace"] == place.trace]
    lpsm = here[here["policy"] == "lpsm"].set_index("seed")["energy_j"]
    rows = [
        {
            "policy": policy,
            "J/page": f"{confidence_interval(group['energy_j']):.3f}",
            "less LPSM's": f"{confidence_interval(group.set_index('seed')['energy_j'] - lpsm):.3f}",
            "slowdown": f"{confidence_interval(group['slowdown']):.3f}",
            "p95": f"{group['slowdown_p95'].mean():.2f}",
            "beacons": f"{group['beacons'].mean():.0f}",
            "above hindsight %": f"{100 * (group['energy_j'].mean() / least_j - 1):.1f}",
        }
        for policy, group in here.groupby("policy", sort=False)
    ]
    return pd.DataFrame(rows)


def _pushes(runs: pd.DataFrame, place: TraceCase) -> pd.DataFrame:
    rows = [
        {
            "policy": policy,
            "J/h above sleep": f"{confidence_interval(group['above_j_per_h']):.2f}",
            "delay ms": f"{confidence_interval(1000 * group['delay_s']):.0f}",
            "p95 ms": f"{1000 * group['delay_p95_s'].mean():.0f}",
        }
        for policy, group in runs[runs["trace"] == place.trace].groupby("policy", sort=False)
    ]
    return pd.DataFrame(rows)


def _matched(runs: pd.DataFrame, matched: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (trace, learner), group in matched.groupby(["trace", "matches"], sort=False):
        own = runs[(runs["trace"] == trace) & (runs["policy"] == learner)]
        rows.append(
            {
                "trace": trace,
                "learner": learner,
                "its beacons": f"{own['beacons'].mean():.0f}",
                "its slowdown": f"{confidence_interval(own['slowdown']):.2f}",
                "random's beacons": f"{group['beacons'].mean():.0f}",
                "random's slowdown": f"{confidence_interval(group['slowdown']):.2f}",
            }
        )
    return pd.DataFrame(rows)


def _figure(runs: pd.DataFrame, best: dict[str, float]) -> pd.DataFrame:
    means = (
        runs[runs["trace"].isin(best)]
        .groupby(["trace", "policy"], sort=False)[["energy_j", "slowdown"]]
        .mean()
    )
    frame = means.reset_index()
    frame.insert(1, "family", [family_of(policy) for policy in frame["policy"]])
    frame["title"] = frame["trace"].map({place.trace: place.title for place in PAGE_TRACES})
    frame["hindsight_j"] = frame["trace"].map(best)
    return frame


STUDY = ListeningStudy()
