"""Results of a sweep: table of its tasks, and policies on the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.campaign.sweep.table import TaskRow
from psm_sim.common.summary_stats import LEVEL, Interval, confidence_interval
from psm_sim.simulation.table import ENERGY, SLOWDOWN, drop_nan

if TYPE_CHECKING:
    import pandas as pd

TASK_COLUMNS = ("policy", "name", "trace", "topology", "pages", "seed", "state")
"""Columns before the parameters: policy, label or name of the policy, scenario and state."""

LATENCY = "latency.p99_ms"
"""Measure of delay without pages: 99th percentile of the messages' latency in the slowest direction."""

_ROUNDING = 1e-9
"""Relative difference below which two values are equal."""


def table_rows(rows: Iterable[TaskRow]) -> list[dict[str, Any]]:
    """Return rows as dictionaries with the same keys in the same order. Missing values are None.

    Each ``[[stations]]`` table has its own row, with the parameter ``station``. The keys are
    :data:`TASK_COLUMNS`, the parameters, the measures and ``error``.
    """
    rows = [station_row for row in rows for station_row in row.by_station()]
    parameters = dict.fromkeys(key for row in rows for key in row.parameters)
    measures = dict.fromkeys(key for row in rows for key in row.measures)
    return [
        {
            **{column: getattr(row, column) for column in TASK_COLUMNS},
            **{key: row.parameters.get(key) for key in parameters},
            **{key: row.measures.get(key) for key in measures},
            "error": row.error or None,
        }
        for row in rows
    ]


def table_frame(rows: Iterable[TaskRow]) -> pd.DataFrame:
    """Return rows as a DataFrame. See :func:`table_rows` for the columns."""
    import pandas as pd

    return pd.DataFrame(table_rows(rows))


@dataclass(frozen=True)
class Candidate:
    """Results of one policy in one scenario for all seeds.

    Attributes
    ----------
    rows : tuple of TaskRow
        Finished tasks, one for each seed.
    is_optimal : str
        Whether the policy is Pareto-optimal: ``"yes"``, ``"undecided"`` or ``"no"``. Empty if the policies
        were not compared, or if there is only one seed.
    """

    rows: tuple[TaskRow, ...]
    is_optimal: str = ""

    @property
    def row(self) -> TaskRow:
        """Task of the first seed."""
        return self.rows[0]

    def interval(self, measure: str) -> Interval:
        """Return the mean over all seeds of a measure, with its 95 % Student's t interval."""
        return confidence_interval([row.measures.get(measure, math.nan) for row in self.rows])


def varying_keys(scenarios: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the keys whose values differ between scenarios, in order of first occurrence."""
    records = list(scenarios)
    keys = dict.fromkeys(key for record in records for key in record)
    return [key for key in keys if len({repr(record.get(key)) for record in records}) > 1]


def candidates(rows: Iterable[TaskRow]) -> list[Candidate]:
    """Group the finished tasks that differ only in the seed, in the order of *rows*.

    The results of each ``[[stations]]`` table form a separate group.
    """
    groups: dict[tuple[Any, ...], list[TaskRow]] = {}
    for row in rows:
        for station_row in () if row.error else row.by_station():
            group = groups.setdefault((station_row.policy, *station_row.scenario.items()), [])
            group.append(_with_delay(station_row))
    return [Candidate(tuple(group)) for group in groups.values()]


def _with_delay(row: TaskRow) -> TaskRow:
    """If a row has messages and no pages, replace its slowdown by the latency of the messages."""
    latencies_s = [
        float(math.nan if value is None else value)
        for name, value in row.measures.items()
        if name.startswith("latency.") and name.endswith(".p99")
    ]
    if not latencies_s or row.measures["page_time_s.max"] != 0:
        return row
    measures = {name: value for name, value in row.measures.items() if name != SLOWDOWN}
    latency_ms = 1000 * max(drop_nan(latencies_s))
    return replace(row, measures={**measures, LATENCY: latency_ms})


def delays_of(candidates: Iterable[Candidate]) -> list[str]:
    """Return the measures of delay that *candidates* have: :data:`SLOWDOWN`, :data:`LATENCY` or both."""
    measures = {name for candidate in candidates for name in candidate.row.measures}
    return [name for name in (SLOWDOWN, LATENCY) if name in measures]


def pareto_front(rows: Iterable[TaskRow]) -> list[Candidate]:
    """Return the candidates that no other candidate dominates, by scenario and, within it, by energy.

    Two candidates are compared by the differences of their energies and delays for the seeds that they share.
    The delay is the slowdown or, without pages, the latency. Candidate A dominates candidate B if the 95 %
    Student's t intervals of the mean differences show that A is better in energy or delay, and worse in
    neither. A is Pareto-optimal if the intervals show that every other candidate is worse in energy or delay,
    or equal in both. A candidate that is neither dominated nor Pareto-optimal is undecided. With a single
    seed there are no intervals, and the values are compared as they are.
    """
    scenarios: dict[tuple[Any, ...], list[Candidate]] = {}
    for candidate in candidates(rows):
        scenarios.setdefault(tuple(candidate.row.scenario.items()), []).append(candidate)
    front = []
    for group in scenarios.values():
        members = [
            replace(member, is_optimal=verdict)
            for member, verdict in zip(group, _verdicts(group), strict=True)
            if verdict != "no"
        ]
        front += sorted(members, key=lambda member: member.interval(ENERGY).mean)
    return front


def _verdicts(group: Sequence[Candidate]) -> list[str]:
    """Return whether each candidate of a scenario is Pareto-optimal."""
    seeds: dict[int, int] = {}
    for row in (row for candidate in group for row in candidate.rows):
        seeds.setdefault(row.seed, len(seeds))
    values = np.full((2, len(group), len(seeds)), np.nan)
    (delay,) = delays_of(group)
    for index, candidate in enumerate(group):
        for row in candidate.rows:
            values[:, index, seeds[row.seed]] = row.measures[ENERGY], row.measures[delay]
    optimal, undecided = ("yes", "undecided") if len(seeds) > 1 else ("", "")
    verdicts = []
    for index in range(len(group)):
        low, high = _intervals_of_differences(values, values[:, index : index + 1])
        is_dominated = ((high <= 0).all(axis=0) & (high < 0).any(axis=0)).any()
        is_worse = (low > 0).any(axis=0) | ((low == 0) & (high == 0)).all(axis=0)
        verdicts.append("no" if is_dominated else optimal if is_worse.all() else undecided)
    return verdicts


def _intervals_of_differences(
    values: NDArray[np.float64], reference: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and upper ends of the confidence intervals of mean(*values* - *reference*).

    The means are over the seeds, the last axis. Missing values are nan. An interval is infinite if fewer than
    two seeds have both values, unless there is only one seed.
    """
    from scipy.special import stdtrit

    with np.errstate(all="ignore"):  # values of 1e300
        differences = values - reference
        differences[np.abs(differences) <= _ROUNDING * np.abs(reference)] = 0.0
        count = (~np.isnan(differences)).sum(axis=-1)
        freedom = np.maximum(count - 1, 1)
        mean = np.nansum(differences, axis=-1) / np.maximum(count, 1)
        variance = np.nansum((differences - mean[..., None]) ** 2, axis=-1) / freedom
        half_width = stdtrit(freedom, 1 - LEVEL / 2) * np.sqrt(variance / np.maximum(count, 1))
    half_width[count < min(2, differences.shape[-1])] = np.inf
    return mean - half_width, mean + half_width
