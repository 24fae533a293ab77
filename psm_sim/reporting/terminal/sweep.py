"""Terminal output of a sweep: its Pareto front, and the status of a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TextIO

from psm_sim.campaign.sweep.results import Candidate, varying_keys
from psm_sim.campaign.sweep.store import ENERGY, SLOWDOWN, StoredRow, SweepRecord
from psm_sim.common.formatting import (
    decimals_of,
    escape_unprintable,
    format_half_width,
    format_number,
    truncate,
)
from psm_sim.reporting.terminal.console import console_on, new_table

MAX_SHOWN = 20
"""Maximum number of failed tasks in the list."""

_MAX_LENGTH = 500


def write_best(best: Sequence[Candidate], stream: TextIO) -> None:
    """Write the Pareto front of each scenario, one row per policy, and the settings that all rows share."""
    if not best:
        stream.write("No task is done.\n")
        return
    keys = varying_keys(candidate.scenario for candidate in best)
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
    columns = [cells for measure in (ENERGY, SLOWDOWN) for cells in interval_cells(best, measure)]
    previous = None
    for index, candidate in enumerate(best):
        if previous not in (None, candidate.scenario):
            table.add_row()
        previous = candidate.scenario
        names = [*(str(previous.get(key, "")) for key in keys), candidate.label]
        numbers = [*(column[index] for column in columns), str(len(candidate.rows)), candidate.is_optimal]
        table.add_row(*[*names, *numbers][: len(table.columns)])
    return table


def interval_cells(best: Sequence[Candidate], measure: str) -> tuple[list[str], list[str]]:
    """Return the means and the half-widths of a measure as text. A single seed has no half-width."""
    intervals = [candidate.interval(measure) for candidate in best]
    means, half_widths = ([getattr(each, name) for each in intervals] for name in ("mean", "half_width"))
    decimals = decimals_of(means, half_widths)
    return (
        [format_number(mean, decimals) for mean in means],
        [format_half_width(width, decimals) for width in half_widths],
    )


def _caption(best: Sequence[Candidate], keys: Sequence[str]) -> list[str]:
    shared = {key: value for key, value in best[0].scenario.items() if key not in keys}
    return [
        *describe_comparison(best),
        (
            "Energy is per page. "
            "± is the half-width of the 95 % confidence interval (Student's t) of a mean over seeds."
        ),
        ", ".join(f"{key} {value}" for key, value in shared.items()) + ".",
    ]


def describe_comparison(best: Sequence[Candidate]) -> list[str]:
    """Return sentences that say how the Pareto front was decided."""
    lines = ["No other policy of the scenario dominates these policies in energy and slowdown."]
    if any(candidate.is_optimal for candidate in best):
        lines.append(
            "Policies are compared by the 95 % confidence intervals of their differences, paired by seed."
        )
    if any(candidate.is_optimal == "undecided" for candidate in best):
        lines.append("undecided: the intervals do not exclude that another policy dominates this one.")
    if not all(candidate.is_optimal for candidate in best):
        lines.append("With a single seed, the values are compared as they are, without intervals.")
    return lines


def write_status(
    rows: Sequence[StoredRow],
    versions: Counter[str],
    sweeps: Sequence[SweepRecord],
    stream: TextIO,
) -> None:
    """Write the number of tasks in each state, the sweeps that used the store, and the failed tasks.

    *stream* is the output. *rows* are the tasks of this version. *versions* has the number of tasks of each
    one. *sweeps* have used the store.
    """
    states = Counter(row.state for row in rows)
    counts = ", ".join(f"{states[state]} {state}" for state in ("done", "failed", "waiting"))
    lines = [f"{len(rows)} tasks: {counts}."]
    if len(versions) > 1:
        lines.append(f"By version: {', '.join(f'{name} {count}' for name, count in versions.items())}.")
    lines += [
        f"Started {begun}, {f'{status} {ended}'.rstrip()}: {truncate(command, _MAX_LENGTH, '...')}"
        for status, begun, ended, command in sweeps
    ]
    stream.write("".join(f"{escape_unprintable(line)}\n" for line in [*lines, *failures(rows)]))


def failures(rows: Sequence[StoredRow]) -> list[str]:
    """Return a line with the task and its error message for each of the first failed tasks."""
    failed = [row for row in rows if row.state == "failed"]
    lines = [
        f"{row.state}: {describe_tasks(row)}: {truncate(row.error, _MAX_LENGTH, '...')}"
        for row in failed[:MAX_SHOWN]
    ]
    more = len(failed) - MAX_SHOWN
    return [*lines, f"... and {more} more failed tasks."] if more > 0 else lines


def describe_tasks(row: StoredRow) -> str:
    """Return the parameters of a task, in the notation of the command line."""
    keys = [key for key in row.parameters if not key.startswith(("policy.", "trace."))]
    settings = "".join(f" {key}={row.parameters[key]}" for key in keys)
    return (
        f"{row.policy} trace={row.trace} topology={row.topology} pages={row.pages} seed={row.seed}{settings}"
    )
