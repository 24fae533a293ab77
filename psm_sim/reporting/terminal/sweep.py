"""Sweep as text for people: its Pareto set, and the state of a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TextIO

from psm_sim.campaign.sweep.outcome import StoredRow
from psm_sim.campaign.sweep.pareto import ENERGY, SLOWDOWN, Candidate, varying_keys
from psm_sim.formatting import escape_unprintable, truncate
from psm_sim.reporting.terminal.comparison import align_columns
from psm_sim.reporting.terminal.console import console_on
from psm_sim.summary_stats import confidence_interval

MAX_SHOWN = 20
"""The most failed tasks that are listed."""

_MAX_LENGTH = 500


def write_best(best: Sequence[Candidate], stream: TextIO) -> None:
    """Write the Pareto set of each scenario, one row per policy, and what is the same in all rows.

    Parameters
    ----------
    best : sequence of Candidate
        The sets, scenario after scenario.
    stream : text file
        Where to write.
    """
    from rich.text import Text

    if not best:
        stream.write("No task is done.\n")
        return
    keys = varying_keys(each.scenario for each in best)
    with console_on(stream) as console:
        console.print(_table(best, keys))
        console.print()
        for line in _caption(best, keys):
            console.print(Text(line))


def make_ready() -> None:
    """Import what :func:`write_best` needs."""
    import rich.table  # noqa: F401

    confidence_interval([0.0, 1.0])


def _table(best: Sequence[Candidate], keys: Sequence[str]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, header_style="bold")
    for key in keys:
        table.add_column(f"\n{key}", overflow="fold")
    table.add_column("\npolicy", overflow="fold", min_width=12)
    for heading in ("energy\nJ", "\n±", "slowdown\nmean", "\n±", "\nseeds"):
        table.add_column(heading, justify="right", no_wrap=True)
    columns = [cells for measure in (ENERGY, SLOWDOWN) for cells in _cells(best, measure)]
    before = None
    for number, each in enumerate(best):
        if before not in (None, each.scenario):
            table.add_row()
        before = each.scenario
        words = [*(str(before.get(key, "")) for key in keys), each.policy]
        numbers = [*(column[number] for column in columns), str(len(each.rows))]
        table.add_row(*map(Text, [*words, *numbers]))
    return table


def _cells(best: Sequence[Candidate], measure: str) -> tuple[list[str], list[str]]:
    """Return the means and the half widths of a measure as texts; no half width for a single seed."""
    found = [each.interval(measure) for each in best]
    spreads = align_columns([each.half_width for each in found])
    shown = [text if each.replications > 1 else "" for each, text in zip(found, spreads, strict=True)]
    return align_columns([each.mean for each in found]), shown


def _caption(best: Sequence[Candidate], keys: Sequence[str]) -> list[str]:
    same = {key: value for key, value in best[0].scenario.items() if key not in keys}
    return [
        "The policies that no other beats in both energy and slowdown, per scenario.",
        "Energy is per page; ± is half of the 95 % interval (Student's) of a mean over seeds.",
        ", ".join(f"{key} {value}" for key, value in same.items()) + ".",
    ]


def write_status(
    rows: Sequence[StoredRow],
    versions: Counter[str],
    sweeps: Sequence[tuple[str, str, str]],
    stream: TextIO,
) -> None:
    """Write the counts of tasks by state, the sweeps that used the store, and the tasks that failed.

    Parameters
    ----------
    rows : sequence of StoredRow
        The tasks of this version.
    versions : Counter of str
        The number of tasks of each version.
    sweeps : sequence of (str, str, str)
        Status, beginning and command of each sweep.
    stream : text file
        Where to write.
    """
    states = Counter(row.state for row in rows)
    counts = ", ".join(f"{states[state]} {state}" for state in ("done", "failed", "waiting"))
    lines = [f"{len(rows)} tasks: {counts}."]
    if len(versions) > 1:
        lines.append(f"By version: {', '.join(f'{name} {count}' for name, count in versions.items())}.")
    lines += [
        f"{begun} {status}: {truncate(command, _MAX_LENGTH, '...')}" for status, begun, command in sweeps
    ]
    stream.write("".join(f"{escape_unprintable(line)}\n" for line in [*lines, *failures(rows)]))


def failures(rows: Sequence[StoredRow]) -> list[str]:
    """Return a line for each of the first tasks that failed: its words, and the sentence that says why."""
    failed = [row for row in rows if row.state == "failed"]
    lines = [
        f"failed: {describe_tasks(row)}: {truncate(row.error, _MAX_LENGTH, '...')}"
        for row in failed[:MAX_SHOWN]
    ]
    more = len(failed) - MAX_SHOWN
    return [*lines, f"... and {more} more failed tasks."] if more > 0 else lines


def describe_tasks(row: StoredRow) -> str:
    """Return what a task is, in the words of the command line."""
    keys = [key for key in row.parameters if not key.startswith(("policy.", "trace."))]
    settings = "".join(f" {key}={row.parameters[key]}" for key in keys)
    return (
        f"{row.policy} trace={row.trace} topology={row.topology} pages={row.pages} seed={row.seed}{settings}"
    )
