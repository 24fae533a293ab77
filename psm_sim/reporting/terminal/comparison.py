"""Terminal table of a comparison of policies: columns, caption, and latencies of background messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, cast

from psm_sim.common.component_spec import split_commas
from psm_sim.common.formatting import truncate
from psm_sim.reporting.terminal.console import console_on
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.result import describe_failures
from psm_sim.simulation.run_averages import Average, SeedAverage

if TYPE_CHECKING:
    from psm_sim.common.summary_stats import Interval
    from psm_sim.simulation import Comparison, PairedDifference, Result
    from psm_sim.simulation.result_parts import Latency

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

        columns = _fit_columns(columns_of(comparison), width, console.width)
        console.print(table(columns))
        if any(run.latency for run in comparison.runs):
            console.print()
            console.print(_latency_table(comparison.shown))
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
        *(f"No result for {name}: {reason.rstrip('.')}." for name, reason in comparison.missing.items()),
        (
            "Energy, beacons and page time are per page. "
            "Slowdown is relative to the same page without power saving."
        ),
        *_energy_lines(comparison),
        *_reference_lines(comparison),
        *_failure_lines(comparison.runs[0]),
        *_recorded_lines(comparison),
        *([_LATENCY_CAPTION] if any(run.latency for run in comparison.runs) else []),
        f"{pages}, {_seeds(comparison)}, topology {_topology(comparison)}{profile}{preset_text}{settings}.",
        f"{comparison.workload.name}: {remark}.",
        *reports(comparison.runs),
        *failures(comparison.shown),
        *([f"{note}."] if preset and (note := load_preset(preset).note()) else []),
    ]


_WITHOUT_COLUMN = {"transmit": "transmissions", "wake_ups": "wake-ups to transmit"}
"""Parts of the energy that have no column."""


def _energy_lines(comparison: Comparison) -> list[str]:
    """Return the line that names the parts of the energy without a column, if any."""
    found = {name for run in comparison.shown for name in run.energy_by_state_per_page_j}
    parts = [text for name, text in _WITHOUT_COLUMN.items() if name in found]
    return [f"The energy includes that of {' and '.join(parts)}, which has no column."] if parts else []


def _reference_lines(comparison: Comparison) -> list[str]:
    """Return the lines that explain baselines, savings and confidence intervals, if any."""
    run, lines = comparison.runs[0], []
    reference = comparison.reference_of(run)
    mark = f"{_MARK.strip()} marks a baseline. " if comparison.baselines else ""
    if reference is not None:
        lines.append(
            f"{mark}Column 'saved' is the energy saving relative to {reference.policy}, in per cent."
        )
    if isinstance(run, Average) and run.HAS_INTERVALS:
        mean = f"a mean over {len(run.names)} {run.KIND}s"
        paired = f". Differences from {reference.policy} are paired" if reference is not None else ""
        lines.append(f"± is the half-width of the 95 % confidence interval (Student's t) of {mean}{paired}.")
    return lines


_UNLIKE = 1.5
"""Ratio of simulated and recorded page time, either way, above which the caption warns."""


def _recorded_lines(comparison: Comparison) -> list[str]:
    """Return the line that compares the page time without power saving with the recorded one, if any."""
    time = comparison.recorded_time
    if time is None:
        return []
    times = f"recorded {time.recorded_s:.3g} s, simulated {time.simulated_s:.3g} s"
    warning = (
        f" Warning: they differ by more than a factor of {_UNLIKE:g}. Either the recorded network, stated "
        "below, differs from the simulated one, or the model does not describe these pages."
    )
    differs = not math.isnan(time.ratio) and not 1 / _UNLIKE <= time.ratio <= _UNLIKE
    return [f"Page time without power saving: {times}.{warning if differs else ''}"]


def _seeds(comparison: Comparison) -> str:
    run, stations = comparison.runs[0], comparison.resolved_topology.station_count
    if not isinstance(run, SeedAverage):
        return f"seed {comparison.seed}"
    step = f" in steps of {stations}" if stations > 1 else ""
    return f"seeds {run.names[0]} to {run.names[-1]}{step}"


def reports(runs: Sequence[Result]) -> list[str]:
    """Return a line for each policy with measurements of its own, such as the mean wait reached."""
    values = [
        (run.label, [f"{name} {value:.4g}" for name, value in run.policy_report.items()]) for run in runs
    ]
    return [f"{label}: {', '.join(texts)}." for label, texts in values if texts]


def failures(runs: Sequence[Result]) -> list[str]:
    """Return a line for each policy with failed pages, with their number and reasons."""
    return [
        f"Failed pages under {run.label}: {describe_failures(run.failed_page_records)}."
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
    stations = [[_station(run, wide=wide)] if run.station else [] for run in runs]
    if any(stations):
        widest = max(len(text) for texts in stations for text in texts)
        # rich measures a table with one column of flexible width correctly, but not with two.
        table.add_column("\nstation", no_wrap=True, min_width=max(widest, len("station")))
    texts = [align_columns([column.value(run) for run in runs], column.decimals) for column in columns]
    for column, cells in zip(columns, texts, strict=True):
        widest = max(map(len, (*column.heading.splitlines(), *cells)))
        table.add_column(column.heading, justify="right", no_wrap=True, min_width=widest)
    for name, station, *cells in zip(names, stations, *texts, strict=True):
        table.add_row(Text(name), *map(Text, station), *cells)
    return table


def _name(comparison: Comparison, run: Result, *, wide: bool) -> str:
    mark = _MARK if any(run is baseline for baseline in comparison.baselines) else ""
    return (run.policy if wide else _stack_parameters(run.policy)) + mark


def _station(run: Result, *, wide: bool) -> str:
    """Return the name of the stations, on a wide terminal with their policy if it is not that of the row."""
    policy = f" ({run.station_policy})" if run.station_policy and wide else ""
    return truncate(f"{run.station}{policy}", _MAX_STATION_LENGTH, "...")


_MARK = " *"
"""Suffix of a baseline's name."""

_MAX_STATION_LENGTH = 28
"""Maximum length of a station's name in the table, in characters."""

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
    first = comparison.runs[0]
    kind = first.KIND if isinstance(first, Average) and first.HAS_INTERVALS else ""
    saving = _saving_columns(comparison, kind) if comparison.reference_runs else []
    difference = _difference_columns(comparison, kind) if comparison.reference_runs and kind else []
    energy = [*_ENERGY, *_interval_column("energy_per_page_j", kind, 2), *saving]
    failed = _FAILED if comparison.runs[0].reports_failures else []
    columns = [
        *energy,
        *_current_columns(comparison.runs),
        *_STATES,
        *_time_columns(kind),
        *difference,
        *_MAX,
        *failed,
    ]
    return [column for column in columns if not kind or column.rank < _MIN_SINGLE_RANK]


def _current_columns(runs: Sequence[Result]) -> list[Column]:
    """Return the columns of mean current and battery life, if they are known of any run. Others have nan."""
    current = Column("mean\nmA", lambda run: _known(run.mean_current_ma), 1)
    days = Column("battery\ndays", lambda run: _known(run.battery_days), 1)
    return [column for column in (current, days) if not all(math.isnan(column.value(run)) for run in runs)]


def _known(value: float | None) -> float:
    return math.nan if value is None else value


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


def _plus_minus(kind: str) -> str:
    """Return the heading of half-widths of intervals over runs of a kind, such as ``"seed"``."""
    return f"±\n{kind}s"


def _interval_column(measure: str, kind: str, rank: int) -> list[Column]:
    """Return the column of the half-width of a measure's confidence interval.

    Parameters
    ----------
    measure : str
        Name of the measure.
    kind : str
        Kind of the runs that the interval is over. A single run has no interval (``""``), so no column.
    rank : int
        Rank of the column, at least that of the mean, so that the mean is never dropped first.
    """
    value: Callable[[Result], float] = lambda run: cast("Average", run).interval(measure).half_width  # noqa: E731
    return [Column(_plus_minus(kind), value, rank)] if kind else []


def _saving_columns(comparison: Comparison, kind: str) -> list[Column]:
    saved = _difference_from_reference(comparison, lambda difference: difference.saved_percent)
    mean = Column("saved\n%", lambda run: saved(run).mean, 1, 1)
    half_width = Column(_plus_minus(kind), lambda run: saved(run).half_width, 3, 1)
    return [mean, half_width] if kind else [mean]


def _difference_columns(comparison: Comparison, kind: str) -> list[Column]:
    policy = comparison.reference_runs[0].policy
    name = policy if len(policy) <= _MAX_NAME_LENGTH else "reference"
    slowdown = _difference_from_reference(comparison, lambda difference: difference.measures["slowdown.mean"])
    return [
        Column(f"\n-{name}", lambda run: slowdown(run).mean, 3),
        Column(_plus_minus(kind), lambda run: slowdown(run).half_width, 3),
    ]


def _difference_from_reference(
    comparison: Comparison, measure: Callable[[PairedDifference], Interval]
) -> Callable[[Result], Interval]:
    """Return the function from a run to a measure of its difference from the reference."""
    differences = zip(comparison.shown, comparison.differences, strict=True)
    by_run = {id(run): measure(difference) for run, difference in differences}
    return lambda run: by_run[id(run)]


def _time_columns(kind: str) -> list[Column]:
    return [
        Column("time s\nmean", lambda run: run.page_time_s.mean, 5),
        *_interval_column("page_time_s.mean", kind, 6),
        Column("\np50", lambda run: run.page_time_percentiles_s["p50"], 9),
        Column("\np90", lambda run: run.page_time_percentiles_s["p90"], 6),
        Column("slowdown\nmean", lambda run: run.slowdown.mean, 0),
        *_interval_column("slowdown.mean", kind, 2),
    ]


_MAX_NAME_LENGTH = 12
"""Maximum length of a policy name in a heading, in characters."""


def _fit_columns(
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


_DIRECTIONS = {
    "down": "downlink",
    "up": "uplink",
    "round_trip_down": "downlink round trip",
    "round_trip_up": "uplink round trip",
}
_HEADINGS = ("sent", "lost %", "mean ms", "p50", "p90", "p99", "max")

_LATENCY_CAPTION = "Latency is the time from sending to arrival. A round trip ends when the reply arrives."


def _latency_table(runs: Sequence[Result]) -> Any:
    """Return a table with one row per policy and direction.

    The columns are the messages sent, the share lost, and the mean and percentiles in milliseconds.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 0, 0, 1), show_edge=False, header_style="bold")
    for heading in ("policy", "latency"):
        table.add_column(heading, overflow="fold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for run in runs:
        for direction, latency in run.latency.items():
            table.add_row(Text(run.label), _DIRECTIONS[direction], *_latency_cells(latency))
    return table


def _latency_cells(latency: Latency) -> list[str]:
    times = [_latency_number(1000 * value) for value in latency.latency_s]
    return [f"{latency.sent:,}", _latency_number(100 * latency.loss), *times]


def _latency_number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"
