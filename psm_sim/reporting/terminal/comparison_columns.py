"""Columns of the comparison table, and their selection on narrow terminals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from psm_sim.simulation.paired_differences import paired_difference
from psm_sim.simulation.run_averages import Average

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result


class Column(NamedTuple):
    """Column of the comparison table.

    Attributes
    ----------
    heading : str
        Heading, in two lines.
    value : callable
        Function from a run to the number in its row.
    rank : int
        Priority. Columns of the highest rank are dropped first on a narrow terminal. Rank 0 is always shown.
    decimals : int or None
        Number of decimals. If None, the largest value determines it.
    """

    heading: str
    value: Callable[[Result], float]
    rank: int
    decimals: int | None = None


def columns_of(comparison: Comparison) -> list[Column]:
    """Return all columns of a comparison, from left to right."""
    averaged, reference = isinstance(comparison.runs[0], Average), comparison.reference
    saving = _saving_columns(reference, averaged) if reference is not None else []
    difference = _difference_columns(reference) if reference is not None and averaged else []
    energy = [*_ENERGY, *_interval_column("energy_per_page_j", averaged, 2), *saving]
    failed = _FAILED if comparison.runs[0].reports_failures else []
    columns = [
        *energy,
        *_current_columns(comparison.runs[0]),
        *_STATES,
        *_time_columns(averaged),
        *difference,
        *_MAX,
        *failed,
    ]
    return [column for column in columns if not averaged or column.rank < _MIN_SINGLE_RANK]


def _current_columns(run: Result) -> list[Column]:
    """Return the columns of mean current and battery life, if they are known."""
    current = Column("mean\nmA", lambda run: run.mean_current_ma or 0.0, 1)
    days = Column("battery\ndays", lambda run: run.battery_days or 0.0, 1)
    available = (run.mean_current_ma is not None, run.battery_days is not None)
    return [column for column, is_available in zip((current, days), available, strict=True) if is_available]


_MIN_SINGLE_RANK = 7
"""Minimum rank of the columns that only tables of single runs have."""

_ENERGY = [Column("energy\nJ", lambda run: run.energy_per_page_j, 0)]
_STATES = [
    Column("awake\nJ", lambda run: run.energy_by_state_per_page_j["awake"], 7),
    Column("asleep\nJ", lambda run: run.energy_by_state_per_page_j["asleep"], 8),
    Column("beacons\nJ", lambda run: run.energy_by_state_per_page_j["beacons"], 5),
    Column("\nheard", lambda run: run.beacons_per_page, 10),
]
_MAX = [Column("\nmax", lambda run: run.slowdown.max, 4)]
_FAILED = [Column("pages\nfailed", lambda run: run.failed_pages, 0, 0)]


def _interval_column(measure: str, averaged: bool, rank: int) -> list[Column]:
    """Return the column of the half-width of a measure's confidence interval.

    Parameters
    ----------
    measure : str
        Name of the measure.
    averaged : bool
        Whether the runs are averages. A single run has no interval, so no column.
    rank : int
        Rank of the column, at least that of the mean, so that the mean is never dropped first.
    """
    value: Callable[[Result], float] = lambda run: cast("Average", run).interval(measure).half_width  # noqa: E731
    return [Column("\n±", value, rank)] if averaged else []


def _saving_columns(reference: Result, averaged: bool) -> list[Column]:
    mean = Column("saved\n%", lambda run: paired_difference(run, reference).saved_percent.mean, 1, 1)
    half_width = Column("\n±", lambda run: paired_difference(run, reference).saved_percent.half_width, 3, 1)
    return [mean, half_width] if averaged else [mean]


def _difference_columns(reference: Result) -> list[Column]:
    name = reference.policy if len(reference.policy) <= _MAX_NAME_LENGTH else "reference"
    return [
        Column(f"\n-{name}", lambda run: paired_difference(run, reference).measures["slowdown.mean"].mean, 3),
        Column("\n±", lambda run: paired_difference(run, reference).measures["slowdown.mean"].half_width, 3),
    ]


def _time_columns(averaged: bool) -> list[Column]:
    return [
        Column("time s\nmean", lambda run: run.page_time_s.mean, 5),
        *_interval_column("page_time_s.mean", averaged, 6),
        Column("\np50", lambda run: run.page_time_percentiles_s["p50"], 9),
        Column("\np90", lambda run: run.page_time_percentiles_s["p90"], 6),
        Column("slowdown\nmean", lambda run: run.slowdown.mean, 0),
        *_interval_column("slowdown.mean", averaged, 2),
    ]


_MAX_NAME_LENGTH = 12
"""Maximum length of a policy name in a heading, in characters."""


def fit_columns(
    columns: Sequence[Column], width: Callable[[Sequence[Column]], int], max_width: int
) -> list[Column]:
    """Drop columns of the highest ranks until the table fits.

    Parameters
    ----------
    columns : sequence of Column
        All columns, from left to right.
    width : callable
        Function from columns to the width of their table, in characters.
    max_width : int
        Width of the terminal, in characters.
    """
    fitting = list(columns)
    while width(fitting) > max_width and any(column.rank for column in fitting):
        highest = max(column.rank for column in fitting)
        fitting = [column for column in fitting if column.rank != highest]
    return fitting
