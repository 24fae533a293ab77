"""Terminal output of a sweep: its Pareto front, and its failed tasks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TextIO

from psm_sim.campaign.sweep.results import LATENCY, Candidate, delays_of, varying_keys
from psm_sim.campaign.sweep.table import TaskRow
from psm_sim.common.formatting import pluralize, truncate
from psm_sim.reporting.columns import Column, mean_column, text_column
from psm_sim.reporting.terminal.console import console_on, print_lines, print_table
from psm_sim.simulation.table import ENERGY, SLOWDOWN

MAX_SHOWN = 20
"""Maximum number of policies in the list of failures."""

_MAX_LENGTH = 500  # five lines of a terminal


_DELAYS = {SLOWDOWN: ("slowdown", "mean", ""), LATENCY: ("latency", "p99", "ms")}
"""Headings and unit of the column of each measure of delay."""


def write_best(best: Sequence[Candidate], stream: TextIO) -> None:
    """Write the Pareto front of each scenario, one row per policy, and the settings that all rows share."""
    if not best:
        stream.write("No task is done.\n")
        return
    keys = varying_keys(candidate.row.scenario for candidate in best)
    scenarios = [candidate.row.scenario for candidate in best]
    ends = [n for n, pair in enumerate(pairwise(scenarios)) if pair[0] != pair[1]]
    with console_on(stream) as console:
        print_table(console, _columns(best, keys), ends=ends)
        print_lines(console, ["", *_caption(best, keys)])


def _columns(best: Sequence[Candidate], keys: Sequence[str]) -> list[Column]:
    columns = [
        *(text_column(key, [str(candidate.row.scenario.get(key, "")) for candidate in best]) for key in keys),
        text_column("policy", [candidate.row.label for candidate in best]),
        mean_column("energy", [candidate.interval(ENERGY) for candidate in best], unit="J"),
        *(
            mean_column(name, [candidate.interval(delay) for candidate in best], of, unit)
            for delay, (name, of, unit) in _DELAYS.items()
            if delay in delays_of(best)
        ),
        Column("seeds", [str(len(candidate.rows)) for candidate in best]),
    ]
    if any(candidate.is_optimal for candidate in best):
        columns.append(text_column("Pareto-optimal", [candidate.is_optimal for candidate in best]))
    return columns


def _caption(best: Sequence[Candidate], keys: Sequence[str]) -> list[str]:
    shared = {key: value for key, value in best[0].row.scenario.items() if key not in keys}
    delays = [_DELAYS[delay][0] for delay in delays_of(best)]
    lines = [f"No other policy of the scenario dominates these policies in energy and {' or '.join(delays)}."]
    if "latency" in delays:
        lines.append("Latency is the 99th percentile over the messages in the slowest direction.")
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


def failures(rows: Sequence[TaskRow]) -> list[str]:
    """Return a line for each policy with failed tasks: their number, the first task and its error message."""
    failed: dict[str, list[TaskRow]] = {}
    for row in rows:
        if row.error:
            failed.setdefault(row.policy, []).append(row)
    lines = []
    for first, *others in list(failed.values())[:MAX_SHOWN]:
        number = f"{1 + len(others)} tasks, the first is " if others else ""
        error = truncate(first.error, _MAX_LENGTH, "...")
        lines.append(f"failed: {number}{_describe_task(first)}: {error}")
    more = len(failed) - MAX_SHOWN
    return [*lines, f"... and {pluralize(more, 'more policy')} with failed tasks."] if more > 0 else lines


def _describe_task(row: TaskRow) -> str:
    """Return the parameters of a task, in the notation of the command line."""
    pairs = {**row.scenario, "seed": row.seed}.items()
    return " ".join([row.policy, *(f"{key}={value}" for key, value in pairs)])
