"""Pareto front of energy and slowdown for each scenario of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from psm_sim.campaign.sweep.task_outcome import StoredRow
from psm_sim.common.summary_stats import Interval, confidence_interval

ENERGY, SLOWDOWN = "energy_per_page_j", "slowdown.mean"


@dataclass(frozen=True)
class Candidate:
    """Results of one policy in one scenario for all seeds."""

    rows: tuple[StoredRow, ...]

    @property
    def policy(self) -> str:
        """Spec of the policy, as the user wrote it."""
        return self.rows[0].policy

    @property
    def scenario(self) -> dict[str, Any]:
        """Trace, topology, number of pages and the topology keys that were set."""
        return scenario_of(self.rows[0])

    def mean(self, measure: str) -> float:
        """Return the mean over all seeds of a measure such as ``"slowdown.mean"``."""
        return float(sum(row.measures[measure] for row in self.rows) / len(self.rows))

    def interval(self, measure: str) -> Interval:
        """Return the mean over all seeds of a measure, with its 95 % Student's t interval."""
        return confidence_interval([row.measures[measure] for row in self.rows])


def scenario_of(row: StoredRow) -> dict[str, Any]:
    """Return the parameters of a row except for those of its policy and its seed."""
    settings = {
        key: value for key, value in row.parameters.items() if not key.startswith(("policy.", "trace."))
    }
    return {"trace": row.trace, "topology": row.topology, "pages": row.pages, **settings}


def candidates(rows: Iterable[StoredRow]) -> list[Candidate]:
    """Group the finished tasks that differ only in the seed, in the order of *rows*."""
    groups: dict[tuple[Any, ...], list[StoredRow]] = {}
    for row in rows:
        if row.state == "done":
            groups.setdefault((row.policy, *scenario_of(row).items()), []).append(row)
    return [Candidate(tuple(group)) for group in groups.values()]


def pareto_front(rows: Iterable[StoredRow]) -> list[Candidate]:
    """Return the non-dominated candidates, scenario after scenario, in order of increasing energy.

    A candidate dominates another one if neither of its means of energy and slowdown is larger and at least
    one of them is smaller.
    """
    scenarios: dict[tuple[Any, ...], list[Candidate]] = {}
    for candidate in candidates(rows):
        scenarios.setdefault(tuple(candidate.scenario.items()), []).append(candidate)
    return [best for group in scenarios.values() for best in _non_dominated(group)]


def _non_dominated(group: list[Candidate]) -> list[Candidate]:
    means = sorted((member.mean(ENERGY), member.mean(SLOWDOWN), index) for index, member in enumerate(group))
    front, min_slowdown, last = [], inf, (inf, inf)
    for energy, slowdown, index in means:
        # equal means do not dominate each other
        if slowdown < min_slowdown or (energy, slowdown) == last:
            front.append(group[index])
            min_slowdown, last = slowdown, (energy, slowdown)
    return front


def varying_keys(scenarios: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the keys whose values differ between scenarios, in order of first occurrence."""
    records = list(scenarios)
    keys = dict.fromkeys(key for record in records for key in record)
    return [key for key in keys if len({repr(record.get(key)) for record in records}) > 1]
