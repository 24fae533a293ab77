"""Pareto set of a sweep: the policies that no other beats in both energy and slowdown, per scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from psm_sim.campaign.sweep.outcome import StoredRow
from psm_sim.common.summary_stats import Interval, confidence_interval

ENERGY, SLOWDOWN = "energy_per_page_j", "slowdown.mean"


@dataclass(frozen=True)
class Candidate:
    """A policy in a scenario, over all its seeds."""

    rows: tuple[StoredRow, ...]

    @property
    def policy(self) -> str:
        """The policy as it was given."""
        return self.rows[0].policy

    @property
    def scenario(self) -> dict[str, Any]:
        """The trace, the topology, the number of pages and the topology keys that were set."""
        return scenario_of(self.rows[0])

    def mean(self, measure: str) -> float:
        """Return the mean over seeds of a measure, such as ``"slowdown.mean"``."""
        return float(sum(row.measures[measure] for row in self.rows) / len(self.rows))

    def interval(self, measure: str) -> Interval:
        """Return the mean over seeds of a measure, with Student's 95 % interval."""
        return confidence_interval([row.measures[measure] for row in self.rows])


def scenario_of(row: StoredRow) -> dict[str, Any]:
    """Return what decides a row beside its policy and its seed."""
    settings = {
        key: value for key, value in row.parameters.items() if not key.startswith(("policy.", "trace."))
    }
    return {"trace": row.trace, "topology": row.topology, "pages": row.pages, **settings}


def candidates(rows: Iterable[StoredRow]) -> list[Candidate]:
    """Return the tasks that are done, those that differ in the seed alone together, in their order."""
    found: dict[tuple[Any, ...], list[StoredRow]] = {}
    for row in rows:
        if row.state == "done":
            found.setdefault((row.policy, *scenario_of(row).items()), []).append(row)
    return [Candidate(tuple(each)) for each in found.values()]


def pareto_front(rows: Iterable[StoredRow]) -> list[Candidate]:
    """Return, scenario after scenario, the candidates that no other beats, from the least energy on.

    One beats another if its means are no larger in energy and slowdown, and smaller in one of them.
    """
    scenarios: dict[tuple[Any, ...], list[Candidate]] = {}
    for each in candidates(rows):
        scenarios.setdefault(tuple(each.scenario.items()), []).append(each)
    return [best for several in scenarios.values() for best in _unbeaten(several)]


def _unbeaten(several: list[Candidate]) -> list[Candidate]:
    means = sorted((each.mean(ENERGY), each.mean(SLOWDOWN), place) for place, each in enumerate(several))
    found, least, last = [], inf, (inf, inf)
    for energy, slowdown, place in means:
        if slowdown < least or (energy, slowdown) == last:
            found.append(several[place])
            least, last = slowdown, (energy, slowdown)
    return found


def varying_keys(scenarios: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the keys in which scenarios differ, in their order."""
    several = list(scenarios)
    keys = dict.fromkeys(key for each in several for key in each)
    return [key for key in keys if len({repr(each.get(key)) for each in several}) > 1]
