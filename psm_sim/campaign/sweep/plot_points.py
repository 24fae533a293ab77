"""Points of a sweep plot, which are means over seeds of one column against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psm_sim.campaign.sweep.pareto import Candidate, candidates, varying_keys
from psm_sim.campaign.sweep.store_table import TASK_COLUMNS, table_rows
from psm_sim.campaign.sweep.task_outcome import StoredRow
from psm_sim.common.errors import InputError
from psm_sim.common.registry import unknown_name_error
from psm_sim.common.summary_stats import Interval


@dataclass(frozen=True)
class Point:
    """Point of a series. ``x`` is an interval for a measure, or the value of a parameter."""

    series: str
    x: Any
    y: Interval


@dataclass(frozen=True)
class Columns:
    """Columns of a plot.

    Parameters
    ----------
    x : str
        Measure or parameter on the x-axis.
    y : str
        Measure on the y-axis.
    by : str
        Parameter that distinguishes the series.
    """

    x: str
    y: str
    by: str

    def of(self, rows: Sequence[StoredRow]) -> list[Point]:
        """Return the points of the finished tasks, in their order.

        Raises
        ------
        InputError
            If a column is unknown, y is not a measure, or two points of a series have the same value of the
            parameter x because they differ in another parameter.
        """
        done = candidates(rows)
        if done:
            self._check_names(done)
        done = [candidate for candidate in done if self._x(candidate) is not None]
        if not done:
            raise InputError(
                f"No finished task has {self.x}; run the sweep, or select other tasks with --where."
            )
        points = [self._point(candidate) for candidate in done]
        if self.x not in done[0].rows[0].measures:
            self._check_unique(done, points)
        return points

    def _point(self, candidate: Candidate) -> Point:
        x = candidate.interval(self.x) if self.x in candidate.rows[0].measures else self._x(candidate)
        return Point(str(_record(candidate).get(self.by, "")), x, candidate.interval(self.y))

    def _x(self, candidate: Candidate) -> Any:
        return _record(candidate).get(self.x)

    def _check_names(self, done: Sequence[Candidate]) -> None:
        row = done[0].rows[0]
        parameters = [
            *TASK_COLUMNS,
            *dict.fromkeys(key for candidate in done for key in candidate.rows[0].parameters),
        ]
        for name, columns in (
            (self.x, [*row.measures, *parameters]),
            (self.y, list(row.measures)),
            (self.by, parameters),
        ):
            if name not in columns:
                raise unknown_name_error("column", name, columns)

    def _check_unique(self, done: Sequence[Candidate], points: Sequence[Point]) -> None:
        first: dict[tuple[str, Any], Candidate] = {}
        for candidate, point in zip(done, points, strict=True):
            other = first.setdefault((point.series, point.x), candidate)
            if other is not candidate:
                keys = varying_keys({"policy": twin.policy, **twin.scenario} for twin in (other, candidate))
                raise InputError(
                    f"Several points of {self.by} {point.series!r} at {self.x} {point.x!r} differ in "
                    f"{', '.join(keys)}; select one with --where {keys[0]}=VALUE, or use --by {keys[0]}."
                )


def _record(candidate: Candidate) -> dict[str, Any]:
    return table_rows(candidate.rows[:1])[0]


def select_rows(rows: Sequence[StoredRow], where: Mapping[str, str]) -> list[StoredRow]:
    """Return the rows whose columns have the values of *where*. Numbers are compared as numbers.

    Raises
    ------
    InputError
        If a column is unknown.
    """
    records = table_rows(rows)
    for key in where:
        if records and key not in records[0]:
            raise unknown_name_error("column", key, list(records[0]))
    pairs = zip(rows, records, strict=True)
    return [row for row, record in pairs if all(_equals(record[key], text) for key, text in where.items())]


def _equals(value: Any, text: str) -> bool:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return bool(value == float(text))
        except ValueError:
            return False
    return str(value) in (text, text.capitalize())  # "true" selects True
