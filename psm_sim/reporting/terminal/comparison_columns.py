"""Columns of the table of a comparison, and which of them a narrow terminal shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from psm_sim.simulation.paired_differences import paired_difference
from psm_sim.simulation.seed_average import Average

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result


class Column(NamedTuple):
    """Column: its heading in two lines, the value of a run, its rank and its decimals.

    Columns of the highest rank are left out first where there is no room; those of rank 0 never are. Without
    a number of decimals the largest value decides.
    """

    heading: str
    value: Callable[[Result], float]
    rank: int
    decimals: int | None = None


def columns_of(comparison: Comparison) -> list[Column]:
    """Return the columns for one run of each policy, or for averages over several."""
    several, reference = isinstance(comparison.runs[0], Average), comparison.reference
    saved = _saved(reference, several) if reference is not None else []
    more = _more(reference) if reference is not None and several else []
    energy = [*_ENERGY, *_spread("energy_per_page_j", several, 2), *saved]
    failed = _FAILED if comparison.runs[0].reports_failures else []
    every = [*energy, *_current(comparison.runs[0]), *_STATES, *_times(several), *more, *_MAX, *failed]
    return [each for each in every if not several or each.rank < _SINGLE]


def _current(run: Result) -> list[Column]:
    """Return the columns of mean current and battery life, as far as these are known."""
    current = Column("mean\nmA", lambda run: run.mean_current_ma or 0.0, 1)
    days = Column("battery\ndays", lambda run: run.battery_days or 0.0, 1)
    known = (run.mean_current_ma is not None, run.battery_days is not None)
    return [column for column, is_known in zip((current, days), known, strict=True) if is_known]


_SINGLE = 7
"""The rank from which columns stand in the table of single runs only."""

_ENERGY = [Column("energy\nJ", lambda run: run.energy_per_page_j, 0)]
_STATES = [
    Column("awake\nJ", lambda run: run.energy_by_state_per_page_j["awake"], 7),
    Column("asleep\nJ", lambda run: run.energy_by_state_per_page_j["asleep"], 8),
    Column("beacons\nJ", lambda run: run.energy_by_state_per_page_j["beacons"], 5),
    Column("\nheard", lambda run: run.beacons_per_page, 10),
]
_MAX = [Column("\nmax", lambda run: run.slowdown.max, 4)]
_FAILED = [Column("pages\nfailed", lambda run: run.failed_pages, 0, 0)]


def _spread(measure: str, several: bool, rank: int) -> list[Column]:
    """Return the column of half the width of a measure's interval, if there are several runs.

    Its rank is at least that of the mean, which so never goes before it.
    """
    value: Callable[[Result], float] = lambda run: cast("Average", run).interval(measure).half_width  # noqa: E731
    return [Column("\n±", value, rank)] if several else []


def _saved(reference: Result, several: bool) -> list[Column]:
    mean = Column("saved\n%", lambda run: paired_difference(run, reference).saved_percent.mean, 1, 1)
    spread = Column("\n±", lambda run: paired_difference(run, reference).saved_percent.half_width, 3, 1)
    return [mean, spread] if several else [mean]


def _more(reference: Result) -> list[Column]:
    name = reference.policy if len(reference.policy) <= _SHORT else "reference"
    return [
        Column(f"\n-{name}", lambda run: paired_difference(run, reference).measures["slowdown.mean"].mean, 3),
        Column("\n±", lambda run: paired_difference(run, reference).measures["slowdown.mean"].half_width, 3),
    ]


def _times(several: bool) -> list[Column]:
    return [
        Column("time s\nmean", lambda run: run.page_time_s.mean, 5),
        *_spread("page_time_s.mean", several, 6),
        Column("\np50", lambda run: run.page_time_percentiles_s["p50"], 9),
        Column("\np90", lambda run: run.page_time_percentiles_s["p90"], 6),
        Column("slowdown\nmean", lambda run: run.slowdown.mean, 0),
        *_spread("slowdown.mean", several, 2),
    ]


_SHORT = 12
"""The longest name, in characters, that stands in a heading."""


def fit_columns(
    columns: Sequence[Column], width: Callable[[Sequence[Column]], int], most: int
) -> list[Column]:
    """Return the columns that fit, without those of the highest ranks that do not.

    Parameters
    ----------
    columns
        All columns, from left to right.
    width
        The width in characters of a table of some columns.
    most
        The width of the terminal, in characters.
    """
    shown = list(columns)
    while width(shown) > most and any(each.rank for each in shown):
        least = max(each.rank for each in shown)
        shown = [each for each in shown if each.rank != least]
    return shown
