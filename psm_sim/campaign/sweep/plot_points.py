"""Points of a sweep: one column against another, each point a mean over seeds; a third makes the series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psm_sim.campaign.sweep.outcome import StoredRow
from psm_sim.campaign.sweep.pareto import Candidate, candidates, varying_keys
from psm_sim.campaign.sweep.store_table import WORDS, table_rows
from psm_sim.common.errors import InputError
from psm_sim.common.registry import unknown_name_error
from psm_sim.common.summary_stats import Interval


@dataclass(frozen=True)
class Point:
    """A point: its series, and its coordinates; ``x`` is a text or a number if it is no measure."""

    series: str
    x: Any
    y: Interval


@dataclass(frozen=True)
class Columns:
    """The columns to be drawn: *y* is a measure, *x* a measure or a parameter, *by* a parameter."""

    x: str
    y: str
    by: str

    def of(self, rows: Sequence[StoredRow]) -> list[Point]:
        """Return the points of the tasks that are done, in their order.

        Raises
        ------
        InputError
            If a column is not there, y is no measure, or two points of a series have the same parameter x,
            since they differ in something else.
        """
        done = candidates(rows)
        if done:
            self._check(done)
        done = [each for each in done if self._x(each) is not None]
        if not done:
            raise InputError(
                f"No task that is done has {self.x}; run the sweep, or choose others with --where."
            )
        points = [self._point(each) for each in done]
        if self.x not in done[0].rows[0].measures:
            self._check_different(done, points)
        return points

    def _point(self, each: Candidate) -> Point:
        x = each.interval(self.x) if self.x in each.rows[0].measures else self._x(each)
        return Point(str(_record(each).get(self.by, "")), x, each.interval(self.y))

    def _x(self, each: Candidate) -> Any:
        return _record(each).get(self.x)

    def _check(self, done: Sequence[Candidate]) -> None:
        row = done[0].rows[0]
        parameters = [*WORDS, *dict.fromkeys(key for each in done for key in each.rows[0].parameters)]
        for name, known in (
            (self.x, [*row.measures, *parameters]),
            (self.y, list(row.measures)),
            (self.by, parameters),
        ):
            if name not in known:
                raise unknown_name_error("column", name, known)

    def _check_different(self, done: Sequence[Candidate], points: Sequence[Point]) -> None:
        first: dict[tuple[str, Any], Candidate] = {}
        for each, point in zip(done, points, strict=True):
            other = first.setdefault((point.series, point.x), each)
            if other is not each:
                differ = varying_keys({"policy": each.policy, **each.scenario} for each in (other, each))
                raise InputError(
                    f"There are several points of {self.by} {point.series!r} at {self.x} {point.x!r}, which "
                    f"differ in {', '.join(differ)}; choose --where {differ[0]}=VALUE or --by {differ[0]}."
                )


def _record(each: Candidate) -> dict[str, Any]:
    return table_rows(each.rows[:1])[0]


def select_rows(rows: Sequence[StoredRow], where: Mapping[str, str]) -> list[StoredRow]:
    """Return the rows whose columns have the values wanted, numbers compared as numbers.

    Raises
    ------
    InputError
        If there is no such column.
    """
    found = table_rows(rows)
    for key in where:
        if found and key not in found[0]:
            raise unknown_name_error("column", key, list(found[0]))
    pairs = zip(rows, found, strict=True)
    return [row for row, each in pairs if all(_is(each[key], value) for key, value in where.items())]


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return bool(value == float(wanted))
        except ValueError:
            return False
    return str(value) in (wanted, wanted.capitalize())
