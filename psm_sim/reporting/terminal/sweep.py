"""Terminal output of a sweep: its Pareto front, and its failed tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from psm_sim.campaign.sweep.results import Candidate, varying_keys
from psm_sim.campaign.sweep.table import ENERGY, SLOWDOWN, Row
from psm_sim.common.formatting import (
    decimals_of,
    format_half_width,
    format_number,
    truncate,
)
from psm_sim.reporting.terminal.console import console_on, new_table

MAX_SHOWN = 20
"""Maximum number of policies in the list of failures."""

_MAX_LENGTH = 500


def write_best(best: Sequence[Candidate], stream: TextIO) -> None:
    """Write the Pareto front of each scenario, one row per policy, and the settings that all rows share."""
    if not best:
        stream.write("No task is done.\n")
        return
    keys = varying_keys(candidate.row.scenario for candidate in best)
    with console_on(stream) as console:
        console.print(_table(best, keys))
        console.print()
        console.print(*_caption(best, keys), sep="\n")


def _table(best: Sequence[Candidate], keys: Sequence[str]) -> Any:
    table = new_table()
    for key in keys:
        table.add_column(f"\n{key}", overflow="fold")
    table.add_column("\npolicy", overflow="fold", min_width=12)
    for heading in ("energy\nJ", "\n±", "slowdown\nmean", "\n±", "\nseeds"):
        table.add_column(heading, justify="right", no_wrap=True)
    if any(candidate.is_optimal for candidate in best):
        table.add_column("Pareto-\noptimal")
    columns = [cells for measure in (ENERGY, SLOWDOWN) for cells in _interval_cells(best, measure)]
    previous = None
    for index, candidate in enumerate(best):
        if previous not in (None, candidate.row.scenario):
            table.add_row()
        previous = candidate.row.scenario
        names = [*(str(previous.get(key, "")) for key in keys), candidate.row.label]
        numbers = [*(column[index] for column in columns), str(len(candidate.rows)), candidate.is_optimal]
        table.add_row(*[*names, *numbers][: len(table.columns)])
    return table


def _interval_cells(best: Sequence[Candidate], measure: str) -> tuple[list[str], list[str]]:
    """Return the means and the half-widths of a measure as text. A single seed has no half-width."""
    intervals = [candidate.interval(measure) for candidate in best]
    means, half_widths = ([getattr(each, name) for each in intervals] for name in ("mean", "half_width"))
    decimals = decimals_of(means, half_widths)
    return (
        [format_number(mean, decimals) for mean in means],
        [format_half_width(width, decimals) for width in half_widths],
    )


def _caption(best: Sequence[Candidate], keys: Sequence[str]) -> list[str]:
    shared = {key: value for key, value in best[0].row.scenario.items() if key not in keys}
    lines = ["No other policy of the scenario dominates these policies in energy and slowdown."]
    if any(candidate.is_optimal for candidate in best):
        lines.append(
            "Policies are compared by the 95 % confidence intervals of their differences, paired by seed."
        )
    if any(candidate.is_optimal == "undecided" for candidate in best):
        lines.append("undecided: the intervals do not exclude that another policy dominates this one.")
    if not all(candidate.is_optimal for candidate in best):
        lines.append("With a single seed, the values are compared as they are, without intervals.")
    return [
        *lines,
        (
            "Energy is per page. "
            "± is the half-width of the 95 % confidence interval (Student's t) of a mean over seeds."
        ),
        ", ".join(f"{key} {value}" for key, value in shared.items()) + ".",
    ]


def failures(rows: Sequence[Row]) -> list[str]:
    """Return a line for each policy with failed tasks: their number, the first one, and its error message."""
    failed: dict[str, list[Row]] = {}
    for row in rows:
        if row.error:
            failed.setdefault(row.policy, []).append(row)
    lines = []
    for first, *others in list(failed.values())[:MAX_SHOWN]:
        number = f"{1 + len(others)} tasks, the first is " if others else ""
        error = truncate(first.error, _MAX_LENGTH, "...")
        lines.append(f"failed: {number}{_describe_task(first)}: {error}")
    more = len(failed) - MAX_SHOWN
    return [*lines, f"... and {more} more policies with failed tasks."] if more > 0 else lines


def _describe_task(row: Row) -> str:
    """Return the parameters of a task, in the notation of the command line."""
    pairs = {**row.scenario, "seed": row.seed}.items()
    return " ".join([row.policy, *(f"{key}={value}" for key, value in pairs)])
