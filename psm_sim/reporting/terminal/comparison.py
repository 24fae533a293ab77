"""Terminal tables of a comparison of policies, fitted to the width of the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.common.component_spec import split_commas
from psm_sim.common.formatting import truncate
from psm_sim.reporting.comparison_table import PARTS, Column, Table, caption, name_of, station_of, tables_of
from psm_sim.reporting.terminal.console import console_on, new_table, print_lines

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result

_MAX_STATION_LENGTH = 28
"""Maximum length of a station's name in the table, in characters."""

_MIN_NAME_WIDTH = 22
"""Minimum width of the column of policy names, in characters, if a name is that long."""


def write(comparison: Comparison, stream: TextIO, preset: str = "") -> None:
    """Write the tables of a *comparison* to *stream*, its conclusion, and the caption with the *preset*."""
    from rich.measure import Measurement

    left_out: list[str] = []
    with console_on(stream) as console:
        unbounded = console.options.update(max_width=10_000)
        shown: list[Column] = []

        def layout(table: Table, *, stacked: bool) -> tuple[list[Column], list[tuple[int, str]]]:
            def width(columns: Sequence[Column]) -> int:
                drawn = _table(comparison, table.runs, columns, stacked=stacked)
                return Measurement.get(console, unbounded, drawn).minimum

            return fit_columns(table.columns, width, console.width)

        for table in tables_of(comparison):
            columns, dropped = layout(table, stacked=False)
            stacked = any(rank < PARTS for rank, _ in dropped)
            if stacked:
                columns, dropped = layout(table, stacked=True)
            shown += columns
            left_out += [name for _, name in dropped]
            console.print(_table(comparison, table.runs, columns, stacked=stacked))
            console.print()
        conclusion = comparison.conclusion()
        lines = [*([conclusion, ""] if conclusion else []), *caption(comparison, preset, shown)]
        if left_out:
            names = ", ".join(dict.fromkeys(left_out))
            lines.append(
                f"Left out at {console.width} columns: {names}; use a wider terminal or --format csv."
            )
        print_lines(console, lines)


def _table(
    comparison: Comparison, runs: Sequence[Result], columns: Sequence[Column], *, stacked: bool
) -> Any:
    table = new_table((0, 0, 0, int(not stacked)))
    names = [name_of(comparison, run) for run in runs]
    if stacked:
        names = list(map(_stack_parameters, names))
    longest = max(len(line) for name in names for line in name.splitlines())
    table.add_column("\npolicy", overflow="fold", min_width=min(longest, _MIN_NAME_WIDTH))
    stations = [[_station(run, stacked=stacked)] if run.station else [] for run in runs]
    if any(stations):
        widest = max(len(text) for texts in stations for text in texts)
        # rich measures a table with one column of flexible width correctly, but not with two.
        table.add_column("\nstation", no_wrap=True, min_width=max(widest, len("station")))
    previous = ""
    for column in columns:
        first, second = column.heading_lines
        heading = f"{'' if first == previous else first}\n{second}{_interval_heading(column)}"
        widest = max(map(len, (*heading.splitlines(), *column.texts)))
        table.add_column(heading, justify="right", no_wrap=True, min_width=widest)
        previous = first
    texts = [column.texts for column in columns]
    for index, (name, station) in enumerate(zip(names, stations, strict=True)):
        table.add_row(name, *station, *(cells[index] for cells in texts))
    return table


def _interval_heading(column: Column) -> str:
    """Return the sign ±, padded so that the heading is above the numbers, if the column has intervals."""
    widest = max(map(len, column.half_widths))
    return f" ±{' ' * widest}" if widest else ""


def _station(run: Result, *, stacked: bool) -> str:
    """Return the name of the stations, with their policy if it is not that of the row and there is space."""
    return truncate(run.station if stacked else station_of(run), _MAX_STATION_LENGTH, "...")


def _stack_parameters(policy: str) -> str:
    """Return a policy spec with one line per parameter, for a narrow terminal."""
    name, *parameters = [part for half in policy.split(":", 1) for part in split_commas(half)]
    return "\n ".join([f"{name}:" if parameters else name, *parameters])


def fit_columns(
    columns: Sequence[Column], width: Callable[[Sequence[Column]], int], max_width: int
) -> tuple[list[Column], list[tuple[int, str]]]:
    """Drop intervals and columns of the highest ranks until the table fits *max_width* characters.

    *width* is a function from columns to the width of their table.

    Returns
    -------
    tuple of (list of Column, list of (int, str))
        The *columns* that fit, and rank and name of what is left out.
    """
    fitting, left_out = list(columns), list[tuple[int, str]]()
    while width(fitting) > max_width:
        intervals = [column.half_width_rank for column in fitting if any(column.half_widths)]
        rank = max([*intervals, *(column.rank for column in fitting)])
        if not rank:
            break
        left_out += [(rank, column.heading) for column in fitting if column.rank == rank]
        kept = [column for column in fitting if column.rank != rank]
        fitting = [
            column.without_half_widths() if column.half_width_rank == rank else column for column in kept
        ]
        left_out += [(rank, f"{old.measure} ±") for old, new in zip(kept, fitting, strict=True) if old != new]

    return fitting, left_out
