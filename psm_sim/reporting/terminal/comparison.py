"""Comparison of policies as a table for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.component_spec import split_commas
from psm_sim.reporting.terminal.comparison_columns import Column, columns_of, fit_columns
from psm_sim.reporting.terminal.console import console_on
from psm_sim.reporting.terminal.latency_table import LATENCY_CAPTION, latency_table
from psm_sim.simulation.failed_pages import describe_failures as counted
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.seed_average import Average, SeedAverage

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result

_ROOMY = 100
"""Width in columns from which a policy is written in one line, and its numbers stand further apart."""


def write(comparison: Comparison, stream: TextIO, preset: str = "") -> None:
    """Write one row per policy, and under the table what it was measured on.

    Parameters
    ----------
    comparison : Comparison
        The runs to show.
    stream : text file
        Where to write, usually standard output.
    preset : str
        The name of the preset that was used, for the caption; empty for none.
    """
    from rich.measure import Measurement
    from rich.text import Text

    with console_on(stream) as console:
        roomy = console.width >= _ROOMY

        def table(columns: Sequence[Column]) -> Any:
            return _table(comparison, columns, roomy=roomy)

        def width(columns: Sequence[Column]) -> int:
            unbounded = console.options.update(max_width=10_000)
            return Measurement.get(console, unbounded, table(columns)).minimum

        shown = fit_columns(columns_of(comparison), width, console.width)
        console.print(table(shown))
        if any(run.latency for run in comparison.runs):
            console.print()
            console.print(latency_table(comparison.shown))
        console.print()
        for line in caption(comparison, preset):
            console.print(Text(line))


def caption(comparison: Comparison, preset: str = "") -> list[str]:
    """Return the lines that a reader needs to repeat the run and to read its numbers."""
    named = f", preset {preset}" if preset else ""
    settings = "".join(f", {key}={value}" for key, value in comparison.settings.items())
    pages = f"{comparison.pages} page{'' if comparison.pages == 1 else 's'} of trace {comparison.trace}"
    remark = comparison.workload.remark.rstrip(".")
    chip = f", profile {comparison.scenario.profile}" if comparison.scenario.profile else ""
    return [
        "Energy, beacons and page time are per page; slowdown is against the same page without power saving.",
        *_comparing(comparison),
        *_failing(comparison.runs[0]),
        *([LATENCY_CAPTION] if any(run.latency for run in comparison.runs) else []),
        f"{pages}, {_seeds(comparison)}, topology {_topology(comparison)}{chip}{named}{settings}.",
        f"{comparison.workload.name}: {remark}.",
        *reports(comparison.runs),
        *failures(comparison.shown),
        *([f"{note}."] if preset and (note := load_preset(preset).note()) else []),
    ]


def _comparing(comparison: Comparison) -> list[str]:
    """Return the lines on baselines, savings and intervals, as far as there are any."""
    reference, run, lines = comparison.reference, comparison.runs[0], []
    marked = f"{_MARK.strip()} baseline; " if comparison.baselines else ""
    if reference is not None:
        lines.append(f"{marked}saved is energy against {reference.policy}, in per cent.")
    if isinstance(run, Average):
        whom = f"a mean over {len(run.names)} {run.KIND}s"
        paired = f"; differences from {reference.policy} are paired" if reference is not None else ""
        lines.append(f"± is half of the 95 % interval (Student's) of {whom}{paired}.")
    return lines


def _seeds(comparison: Comparison) -> str:
    run = comparison.runs[0]
    return (
        f"seeds {run.names[0]} to {run.names[-1]}"
        if isinstance(run, SeedAverage)
        else f"seed {comparison.seed}"
    )


def reports(runs: Sequence[Result]) -> list[str]:
    """Return a line for each policy that measured something itself, such as the mean wait reached."""
    told = [
        (run.policy, [f"{name} {value:.4g}" for name, value in run.policy_report.items()]) for run in runs
    ]
    return [f"{policy}: {', '.join(words)}." for policy, words in told if words]


def failures(runs: Sequence[Result]) -> list[str]:
    """Return a line for each policy whose pages have failed, with the reasons."""
    return [
        f"{run.policy}, pages failed: {counted(run.failed_page_records)}." for run in runs if run.failed_pages
    ]


def _failing(run: Result) -> list[str]:
    """Return the line that says what means are, where pages can fail."""
    line = "Page time and slowdown are of the pages that are complete; energy is all, over all pages."
    return [line] if run.reports_failures else []


def _topology(comparison: Comparison) -> str:
    """Return the topology's name and, of one that is not bundled, in what it differs from one that is."""
    base, differs = comparison.resolved_topology.base, comparison.topology_differs
    if comparison.topology == base:
        return base
    named = [f"{key}={_plain(value)}" for key, value in differs.items()]
    more = [f"and {len(named) - _NAMED} more"] if len(named) > _NAMED else []
    words = " with " + ", ".join((*named[:_NAMED], *more)) if named else ""
    return f"{comparison.topology}: {base}{words}"


def _plain(value: object) -> str:
    """Return a value as one writes it after ``--set``."""
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


_NAMED = 3
"""How many keys of a topology the caption names."""


def _table(comparison: Comparison, shown: Sequence[Column], *, roomy: bool) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 0, 0, int(roomy)), show_edge=False, header_style="bold")
    runs = comparison.shown
    names = [_name(comparison, run, roomy=roomy) for run in runs]
    longest = max(len(line) for name in names for line in name.splitlines())
    table.add_column("\npolicy", overflow="fold", min_width=min(longest, _NAME_WIDTH))
    columns = [align_columns([column.value(run) for run in runs], column.decimals) for column in shown]
    for column, cells in zip(shown, columns, strict=True):
        widest = max(map(len, (*column.heading.splitlines(), *cells)))
        table.add_column(column.heading, justify="right", no_wrap=True, min_width=widest)
    for name, *cells in zip(names, *columns, strict=True):
        table.add_row(Text(name), *cells)
    return table


def _name(comparison: Comparison, run: Result, *, roomy: bool) -> str:
    mark = _MARK if any(run is baseline for baseline in comparison.baselines) else ""
    return (run.policy if roomy else _stacked(run.policy)) + mark


_MARK = " *"
"""The mark of a baseline, behind its name."""

_NAME_WIDTH = 22
"""The width in characters that a policy's name has at least, if it is that long."""


def _stacked(policy: str) -> str:
    """Return a policy with one line per parameter, for a narrow terminal."""
    name, *parameters = [part for half in policy.split(":", 1) for part in split_commas(half)]
    return "\n ".join([f"{name}:" if parameters else name, *parameters])


def align_columns(values: Sequence[float], decimals: int | None = None) -> list[str]:
    """Format the numbers of one column, without *decimals* to 4 digits of the largest, 3 decimals at most."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if decimals is None:
        decimals = 3 if largest < 1 else max(0, 3 - math.floor(math.log10(largest)))
    return [f"{value:.{decimals}f}" for value in values]
