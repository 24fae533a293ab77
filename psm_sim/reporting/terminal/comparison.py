"""Terminal table of a comparison of policies, with its caption."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.common.component_spec import split_commas
from psm_sim.reporting.terminal.comparison_columns import Column, columns_of, fit_columns
from psm_sim.reporting.terminal.console import console_on
from psm_sim.reporting.terminal.latency_table import LATENCY_CAPTION, latency_table
from psm_sim.simulation.failed_pages import describe_failures
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.run_averages import Average, SeedAverage

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result

_MIN_WIDE = 100
"""Minimum terminal width, in characters, for policy names on one line and wide column gaps."""


def write(comparison: Comparison, stream: TextIO, preset: str = "") -> None:
    """Write the comparison table and its caption.

    Parameters
    ----------
    comparison : Comparison
        Comparison to show.
    stream : text file
        Output stream, usually standard output.
    preset : str
        Name of the preset, for the caption. An empty string means none.
    """
    from rich.measure import Measurement
    from rich.text import Text

    with console_on(stream) as console:
        wide = console.width >= _MIN_WIDE

        def table(columns: Sequence[Column]) -> Any:
            return _table(comparison, columns, wide=wide)

        def width(columns: Sequence[Column]) -> int:
            unbounded = console.options.update(max_width=10_000)
            return Measurement.get(console, unbounded, table(columns)).minimum

        columns = fit_columns(columns_of(comparison), width, console.width)
        console.print(table(columns))
        if any(run.latency for run in comparison.runs):
            console.print()
            console.print(latency_table(comparison.shown))
        console.print()
        for line in caption(comparison, preset):
            console.print(Text(line))


def caption(comparison: Comparison, preset: str = "") -> list[str]:
    """Return the lines that explain the numbers and state the settings of the run."""
    preset_text = f", preset {preset}" if preset else ""
    settings = "".join(f", {key}={value}" for key, value in comparison.settings.items())
    pages = f"{comparison.pages} page{'' if comparison.pages == 1 else 's'} of trace {comparison.trace}"
    remark = comparison.workload.remark.rstrip(".")
    profile = f", profile {comparison.scenario.profile}" if comparison.scenario.profile else ""
    return [
        (
            "Energy, beacons and page time are per page. "
            "Slowdown is relative to the same page without power saving."
        ),
        *_reference_lines(comparison),
        *_failure_lines(comparison.runs[0]),
        *([LATENCY_CAPTION] if any(run.latency for run in comparison.runs) else []),
        f"{pages}, {_seeds(comparison)}, topology {_topology(comparison)}{profile}{preset_text}{settings}.",
        f"{comparison.workload.name}: {remark}.",
        *reports(comparison.runs),
        *failures(comparison.shown),
        *([f"{note}."] if preset and (note := load_preset(preset).note()) else []),
    ]


def _reference_lines(comparison: Comparison) -> list[str]:
    """Return the lines that explain baselines, savings and confidence intervals, if any."""
    reference, run, lines = comparison.reference, comparison.runs[0], []
    mark = f"{_MARK.strip()} marks a baseline. " if comparison.baselines else ""
    if reference is not None:
        lines.append(
            f"{mark}Column 'saved' is the energy saving relative to {reference.policy}, in per cent."
        )
    if isinstance(run, Average):
        mean = f"a mean over {len(run.names)} {run.KIND}s"
        paired = f". Differences from {reference.policy} are paired" if reference is not None else ""
        lines.append(f"± is the half-width of the 95 % confidence interval (Student's t) of {mean}{paired}.")
    return lines


def _seeds(comparison: Comparison) -> str:
    run = comparison.runs[0]
    return (
        f"seeds {run.names[0]} to {run.names[-1]}"
        if isinstance(run, SeedAverage)
        else f"seed {comparison.seed}"
    )


def reports(runs: Sequence[Result]) -> list[str]:
    """Return a line for each policy with measurements of its own, such as the mean wait reached."""
    values = [
        (run.policy, [f"{name} {value:.4g}" for name, value in run.policy_report.items()]) for run in runs
    ]
    return [f"{policy}: {', '.join(texts)}." for policy, texts in values if texts]


def failures(runs: Sequence[Result]) -> list[str]:
    """Return a line for each policy with failed pages, with their number and reasons."""
    return [
        f"Failed pages under {run.policy}: {describe_failures(run.failed_page_records)}."
        for run in runs
        if run.failed_pages
    ]


def _failure_lines(run: Result) -> list[str]:
    """Return the line that states which pages the means cover, if pages can fail."""
    line = "Page time and slowdown cover complete pages only. Energy includes failed pages."
    return [line] if run.reports_failures else []


def _topology(comparison: Comparison) -> str:
    """Return the topology's name. For a file, add its bundled base and the keys that differ."""
    base, differs = comparison.resolved_topology.base, comparison.topology_differs
    if comparison.topology == base:
        return base
    pairs = [f"{key}={_format_setting(value)}" for key, value in differs.items()]
    more = [f"and {len(pairs) - _MAX_KEYS} more"] if len(pairs) > _MAX_KEYS else []
    settings = " with " + ", ".join((*pairs[:_MAX_KEYS], *more)) if pairs else ""
    return f"{comparison.topology}: {base}{settings}"


def _format_setting(value: object) -> str:
    """Return a value as it is written after ``--set``."""
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


_MAX_KEYS = 3
"""Maximum number of keys of a topology in the caption."""


def _table(comparison: Comparison, columns: Sequence[Column], *, wide: bool) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 0, 0, int(wide)), show_edge=False, header_style="bold")
    runs = comparison.shown
    names = [_name(comparison, run, wide=wide) for run in runs]
    longest = max(len(line) for name in names for line in name.splitlines())
    table.add_column("\npolicy", overflow="fold", min_width=min(longest, _MIN_NAME_WIDTH))
    texts = [align_columns([column.value(run) for run in runs], column.decimals) for column in columns]
    for column, cells in zip(columns, texts, strict=True):
        widest = max(map(len, (*column.heading.splitlines(), *cells)))
        table.add_column(column.heading, justify="right", no_wrap=True, min_width=widest)
    for name, *cells in zip(names, *texts, strict=True):
        table.add_row(Text(name), *cells)
    return table


def _name(comparison: Comparison, run: Result, *, wide: bool) -> str:
    mark = _MARK if any(run is baseline for baseline in comparison.baselines) else ""
    return (run.policy if wide else _stack_parameters(run.policy)) + mark


_MARK = " *"
"""Suffix of a baseline's name."""

_MIN_NAME_WIDTH = 22
"""Minimum width of the column of policy names, in characters, if a name is that long."""


def _stack_parameters(policy: str) -> str:
    """Return a policy spec with one line per parameter, for a narrow terminal."""
    name, *parameters = [part for half in policy.split(":", 1) for part in split_commas(half)]
    return "\n ".join([f"{name}:" if parameters else name, *parameters])


def align_columns(values: Sequence[float], decimals: int | None = None) -> list[str]:
    """Format the numbers of one column with the same number of decimals.

    Parameters
    ----------
    values : sequence of float
        Numbers of the column, from top to bottom.
    decimals : int or None
        Number of decimals. If None, the largest number has four digits, and at most three decimals.
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if decimals is None:
        decimals = 3 if largest < 1 else max(0, 3 - math.floor(math.log10(largest)))
    return [f"{value:.{decimals}f}" for value in values]
