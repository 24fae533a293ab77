"""Tables of a comparison for the terminal, the HTML report and notebooks.

A table of page views has columns for energy, page time and slowdown. A table of devices, which load no pages,
has columns for mean power or current, and for the latency of messages. Columns whose cells are all equal are
omitted, and the caption states their value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TextIO

from psm_sim.common.formatting import (
    decimals_of,
    escape_unprintable,
    format_half_width,
    format_number,
    format_parameter,
    format_range,
    format_seconds,
    join_names,
    pluralize,
)
from psm_sim.network.chip_profiles import load_profile
from psm_sim.reporting.columns import BEACONS_RANK, Column, latex_table, number_column, text_column
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.result import describe_failures
from psm_sim.simulation.table import Row, directions_of

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result

MARK = " *"
"""Suffix of a baseline's name."""

MAX_ADDITIONAL_PERCENT = 100.0
"""Additional energy in per cent of the reference, above which the ratio of both energies is shown."""

DIRECTION_HEADINGS = {"down": "down", "up": "up", "round_trip_down": "RTT down", "round_trip_up": "RTT up"}
"""Headings of the latencies, by direction."""

_SAVED, _LOST, _FAILED = "saved", "lost", "failed"

_STATES = ("awake", "asleep", "beacons", "transmit", "wake_ups", "frames")


def _page_columns(runs: Sequence[Result], unit: str) -> Iterator[Column]:
    """Yield the columns of page views, without the mean power, which is redundant with the energy."""
    column = partial(_columns, runs)
    yield from column("energy", "energy_per_page_j", unit="J", half_width_rank=4)
    if unit == "mA":
        yield from column("current", "mean_current_ma", unit=unit, rank=1)
    yield from column("battery", "battery_days", unit="days", rank=1, max_decimals=1)
    yield from column("page time", "page_time_s.mean", "mean", "s", rank=2, half_width_rank=6)
    yield from column("page time", "page_time_percentiles_s.p90", "p90", "s", rank=7)
    yield from column("slowdown", "slowdown.mean", "mean", half_width_rank=4)
    yield from column("slowdown", "slowdown.max", "max", rank=2)
    yield from column("pages", "failed_pages", _FAILED, max_decimals=0)
    yield from _latency_columns(runs, 5)
    yield from column("beacons", "beacons_per_page", "received", rank=BEACONS_RANK)
    for state in _STATES:
        value = f"energy_by_state_per_page_j.{state}"
        yield from column(state.replace("_", "-"), value, unit="J", rank=BEACONS_RANK + 1, absent=0.0)


def _device_columns(runs: Sequence[Result], unit: str) -> Iterator[Column]:
    """Yield the columns of devices without page views."""
    column, rows = partial(_columns, runs), [run.row for run in runs]
    if unit == "mA":
        yield from column("current", "mean_current_ma", unit=unit, half_width_rank=4)
    else:
        yield from column("power", "mean_power_mw", unit=unit, half_width_rank=4)
    yield from column("battery", "battery_days", unit="days", rank=1, max_decimals=1)
    yield from _latency_columns(runs, 2)
    beacons = [row["usage.beacons"] / row["simulated_s"] for row in rows]
    yield number_column("beacons", beacons, unit="per s", rank=BEACONS_RANK)
    for state in _STATES:
        factors = [1000 / row["simulated_s"] / (row["supply_v"] if unit == "mA" else 1.0) for row in rows]
        values = [row[f"usage.{state}_j"] * factor for row, factor in zip(rows, factors, strict=True)]
        if any(values):
            yield number_column(state.replace("_", "-"), values, unit=unit, rank=BEACONS_RANK + 1)


def _latency_columns(runs: Sequence[Result], rank: int) -> Iterator[Column]:
    """Yield the percentiles of the latency and the loss in each direction."""
    for direction, group in DIRECTION_HEADINGS.items():
        own_rank = rank + 4 * group.startswith("RTT")
        for name, own in (("p50", own_rank), ("p99", own_rank - 1)):
            value = f"latency.{direction}.latency_s.{name}"
            yield from _columns(runs, group, value, name, "ms", rank=own, max_decimals=1, factor=1000)
        loss = f"latency.{direction}.loss"
        yield from _columns(
            runs, f"{group} {_LOST}", loss, unit="%", rank=own_rank, max_decimals=2, factor=100
        )


def _columns(
    runs: Sequence[Result],
    measure: str,
    value: str,
    name: str = "",
    unit: str = "",
    *,
    rank: int = 0,
    half_width_rank: int = 0,
    max_decimals: int = 6,
    factor: float = 1,
    absent: float = math.nan,
) -> Iterator[Column]:
    """Yield the column of the values named *value*; yield nothing if no row has such a value.

    Values are multiplied by *factor*. Rows without the value contain *absent*. If *half_width_rank* is not 0,
    the column has confidence intervals over seeds or clients. The other arguments are those of
    :func:`number_column`.
    """
    if not any(value in run.row for run in runs):
        return
    half_widths = [
        run.interval(value).half_width if half_width_rank and run.replicate else math.nan for run in runs
    ]
    yield number_column(
        measure,
        [factor * run.row.get(value, absent) for run in runs],
        name,
        unit,
        half_widths=half_widths,
        rank=rank,
        half_width_rank=half_width_rank,
        max_decimals=max_decimals,
    )


class ResultTable(NamedTuple):
    """Table of the results with page views, or of the results without.

    ``runs`` are the results, one per row. ``names`` are the column of policies and, if there are several
    stations, the column of stations. ``columns`` are the other columns. ``constants`` are sentences on the
    columns that are omitted, because they are equal in all rows.
    """

    runs: list[Result]
    names: list[Column]
    columns: list[Column]
    constants: list[str]

    @property
    def main_columns(self) -> list[Column]:
        """All columns except the number of beacons and the energies in the radio states."""
        return [*self.names, *(column for column in self.columns if column.rank < BEACONS_RANK)]


def tables_of(comparison: Comparison) -> list[ResultTable]:
    """Return one table of the results with page views, and one of the results without."""
    kinds = ([run for run in comparison.shown if run["loads_pages"] is each] for each in (True, False))
    return [_table(comparison, runs) for runs in kinds if runs]


def _names(comparison: Comparison, runs: Sequence[Result]) -> list[Column]:
    """Return a column of policies, with a mark on baselines, and a column of stations if there are any."""
    marked = list(map(id, comparison.baselines))
    columns = [text_column("policy", [run.policy_name + MARK * (id(run) in marked) for run in runs])]
    if any(run.station for run in runs):
        columns.append(text_column("station", [_station(run) for run in runs]))
    return columns


def _station(run: Result) -> str:
    """Return the name of the stations, such as ``"phone"``, or ``"phone (psm)"`` if they have a policy."""
    return f"{run.station} ({run.station_policy})" if run.station_policy else run.station


def _table(comparison: Comparison, runs: list[Result]) -> ResultTable:
    rows = [run.row for run in runs]
    unit = "mA" if all("mean_current_ma" in row for row in rows) else "mW"
    candidates = list((_page_columns if rows[0]["loads_pages"] else _device_columns)(runs, unit))
    if rows[0]["loads_pages"] and comparison.reference_runs:
        candidates.insert(1, _saved_column(comparison, runs))
    constant = [
        candidate
        for candidate in candidates
        if candidate.is_constant and (len(runs) > 1 or _is_no_failure(candidate))
    ]
    columns = [column for column in candidates if column not in constant]
    return ResultTable(runs, _names(comparison, runs), columns, _sentences_of(constant, candidates))


def _is_no_failure(column: Column) -> bool:
    """Return whether a column of lost messages or failed pages contains only zeros."""
    counts_failures = column.measure.endswith(_LOST) or column.name == _FAILED
    return counts_failures and not any(text.strip("0.") for text in column.cells)


def _sentences_of(constant: Sequence[Column], candidates: Sequence[Column]) -> list[str]:
    """Return sentences that state the values of the columns that are equal in all rows."""
    none_failed = [column for column in constant if _is_no_failure(column)]
    known = [
        candidate
        for candidate in candidates
        if candidate.measure.endswith(_LOST) and set(candidate.cells) != {"-"}
    ]
    none_lost = [column for column in none_failed if column in known]
    sentences = ["No page failed."] if len(none_failed) > len(none_lost) else []
    if none_lost == known:
        sentences += ["No message was lost."] if known else []
        constant = [column for column in constant if column not in none_failed]
    equal = [
        _statement(column)
        for column in constant
        if column.rank < BEACONS_RANK and column.name != _FAILED and column.cells[0] != "-"
    ]
    return [*sentences, *([f"Equal in all rows: {', '.join(equal)}."] if equal else [])]


def _statement(column: Column) -> str:
    """Return the value of a column that is equal in all rows, such as ``"page time p90 0.26 s"``."""
    return " ".join(filter(None, (column.measure, column.name, column.texts[0].strip(), column.unit)))


def _saved_column(comparison: Comparison, runs: Sequence[Result]) -> Column:
    """Return the column of the saving relative to the reference.

    An energy far above the energy of the reference is shown as a ratio.
    """
    differences = [comparison.difference(run) for run in runs]
    saved = [difference["energy_saved_percent"] for difference in differences]
    widths = [
        difference.get("half_width_95", {}).get("energy_saved_percent", 0.0) for difference in differences
    ]
    near = [pair for pair in zip(saved, widths, strict=True) if pair[0] >= -MAX_ADDITIONAL_PERCENT]
    decimals = min(1, decimals_of([value for value, _ in near], [width for _, width in near]))
    cells, half_widths = [], []
    for value, width in zip(saved, widths, strict=True):
        if value >= -MAX_ADDITIONAL_PERCENT:
            cells.append(format_number(value, decimals))
            half_widths.append(format_half_width(width, decimals))
        else:
            cells.append(_ratio(1 - value / 100))
            half_widths.append("")
    return Column(_SAVED, cells, unit="%", half_widths=half_widths, rank=1, half_width_rank=4)


def _ratio(ratio: float) -> str:
    """Return a ratio of energies as text, such as ``"11.4x"``."""
    return "-" if math.isnan(ratio) else f"{format_number(ratio, int(ratio < 100))}x"


_MAX_KEYS = 3
"""Maximum number of keys of a topology in the caption."""

_UNLIKE = 1.5
"""Ratio of simulated and recorded page time, either way, above which the caption warns (a choice)."""


def caption(comparison: Comparison, columns: Sequence[Column] | None = None) -> list[str]:
    """Return the lines that explain the numbers and state the settings of the run.

    *columns* are the columns that the reader sees, by default all.
    """
    tables, preset = tables_of(comparison), comparison.preset
    if columns is None:
        columns = [column for table in tables for column in table.columns]
    profile = f", profile {comparison.scenario.profile}" if comparison.scenario.profile else ""
    battery = f", battery {comparison.scenario.battery}" if comparison.scenario.battery else ""
    preset_text = f", preset {preset}" if preset else ""
    settings = "".join(f", {key}={value}" for key, value in comparison.scenario.settings.items())
    topology = f"topology {_topology(comparison)}{profile}{battery}{preset_text}{settings}"
    remark = comparison.workload.remark.rstrip(".")
    return [
        *([f"No result for {', '.join(comparison.missing)}."] if comparison.missing else []),
        *(line for line in (_units(tables), _marks(comparison, columns)) if line),
        *_intervals(comparison, columns),
        *dict.fromkeys(sentence for table in tables for sentence in table.constants),
        *_recorded(comparison),
        f"{_traffic(comparison)}, {comparison.seed_range}, {topology}.",
        *_certainty(comparison),
        f"{comparison.workload.name}: {remark}.",
        *(f"{run.label}: {text}." for run in comparison.runs if (text := _report(run.row))),
        *(
            f"Failed pages under {run.label}: {describe_failures(run.failures)}."
            for run in comparison.shown
            if run.failures
        ),
        *([f"{note}."] if preset and (note := load_preset(preset).note()) else []),
    ]


def write_latex(comparison: Comparison, stream: TextIO) -> None:
    """Write the tables of a *comparison* to *stream* as LaTeX, with conclusion and caption as comments."""
    shown = [table.main_columns for table in tables_of(comparison)]
    columns = [column for table in shown for column in table]
    comments = [comparison.conclusion(), *caption(comparison, columns), "Needs the package booktabs."]
    stream.writelines(f"% {escape_unprintable(line)}\n" for line in filter(None, comments))
    stream.writelines(f"{latex_table(table)}\n" for table in shown)


def _units(tables: Sequence[ResultTable]) -> str:
    """Return the sentences that define energy, slowdown and latency."""
    sentences = []
    pages = next((table for table in tables if table.runs[0]["loads_pages"]), None)
    if pages is not None:
        by_station = {run.station: run["simulated_s"] / run["pages"] for run in reversed(pages.runs)}
        lengths = [
            f"{_seconds(length_s)}{f' ({name})' if len(by_station) > 1 else ''}"
            for name, length_s in reversed(by_station.items())
        ]
        sentences += [
            f"Energy is per page view of {' and '.join(lengths)} on average, think time included.",
            "Slowdown is page time relative to no power saving.",
        ]
        if any(run.row.get("failed_pages") for run in pages.runs):
            sentences.append("Page time and slowdown cover complete pages, energy all pages.")
    directions = {name for table in tables for run in table.runs for name in directions_of(run.row)}
    if directions & {"down", "up"}:
        sentences.append("Latency (down, up) is from sending a message to its arrival.")
    if directions & {"round_trip_down", "round_trip_up"}:
        sentences.append("RTT is from sending a message, down or up, to the arrival of its reply.")
    return " ".join(sentences)


def _certainty(comparison: Comparison) -> list[str]:
    """Return lines on the accuracy of a chip's currents, and on the modes that firmwares use by default."""
    profile, topology = comparison.scenario.profile, comparison.resolved_topology
    if not profile or topology.stations or topology.power.supply_v is None:
        return []
    from psm_sim.campaign.chip_currents import current_of

    chip = load_profile(profile)
    factors = "{:g} to {:g} times".format(*chip.interval)
    currents = [(run.label, current_of(run, chip)) for run in comparison.shown]
    texts = [f"{label} {format_range(*ma, 'mA').partition(',')[0]}" for label, ma in currents]
    return [
        f"The interval of the current asleep is {factors} the prediction, because {chip.known}.",
        f"Intervals of the mean current: {join_names(texts)}.",
        *(
            f"The mode of the chip is {chip.mode.name}; {join_names(mode.default_of)} default to {mode.name}:"
            f" --profile {chip.name}:mode={mode.name}."
            for mode in chip.modes.values()
            if chip.mode and mode.default_of and mode is not chip.mode
        ),
    ]


def _seconds(value: float) -> str:
    return f"{format_number(value, 0 if value >= 10 else 1)} s"


def _marks(comparison: Comparison, columns: Sequence[Column]) -> str:
    """Return the sentences that explain the mark ``*`` and the column ``saved``."""
    sentences = [f"{MARK.strip()} marks a baseline."] if comparison.baselines else []
    period = comparison.resolved_topology.beacon.dtim_period
    if period > 1 and any(run.parameters.get("listen_interval") == period for run in comparison.baselines):
        sentences.append("As devices at this access point do, psm wakes for DTIM beacons only.")
    saved = [column for column in columns if column.measure == _SAVED]
    if saved:
        policy = comparison.reference_runs[0].policy_name
        ratio = next((cell for column in saved for cell in column.cells if cell.endswith("x")), None)
        hint = f"; {ratio} means that many times its energy" if ratio else ""
        sentences.append(f"Column 'saved' is the energy saving relative to {policy}{hint}.")
    return " ".join(sentences)


def _intervals(comparison: Comparison, columns: Sequence[Column]) -> list[str]:
    """Return the line that explains the confidence intervals, if there are any."""
    run, groups = comparison.runs[0], {column.measure for column in columns if any(column.half_widths)}
    if not groups or not run.levels:
        return []
    paired = ", paired for 'saved'" if _SAVED in groups else ""
    count = f"{len(run.parts)} {run.levels[0]}s"
    return [f"± is the 95 % confidence interval (Student's t) of the mean over {count}{paired}."]


def _recorded(comparison: Comparison) -> list[str]:
    """Return a line with the recorded and the simulated page time; no line if no time was recorded."""
    time = comparison.recorded_time
    if not time:
        return []
    times = f"recorded {time['recorded_s']:.3g} s, simulated {time['simulated_s']:.3g} s"
    warning = (
        f" Warning: they differ by more than a factor of {_UNLIKE:g}. Either the recorded network, stated "
        "below, differs from the simulated one, or the model does not describe these pages."
    )
    differs = not math.isnan(time["ratio"]) and not 1 / _UNLIKE <= time["ratio"] <= _UNLIKE
    return [f"Page time without power saving: {times}.{warning if differs else ''}"]


def _traffic(comparison: Comparison) -> str:
    """Return the amount and source of the traffic, such as ``"100 pages of trace ucb"``."""
    run = comparison.runs[0]
    if any(run["loads_pages"] for run in comparison.shown):
        amount = pluralize(comparison.pages, "page")
    else:
        amount = format_seconds(run["simulated_s"] / max(len(run.parts), 1))
    return f"{amount} of trace {comparison.scenario.trace_name}"


def _topology(comparison: Comparison) -> str:
    """Return the name of the topology, followed by its base and the changed keys if it is a file."""
    base, differs = comparison.resolved_topology.base, comparison.topology_differs
    if comparison.scenario.topology_name == base:
        return base
    pairs = [f"{key}={format_parameter(value)}" for key, value in differs.items()]
    more = [f"and {len(pairs) - _MAX_KEYS} more"] if len(pairs) > _MAX_KEYS else []
    settings = " with " + ", ".join((*pairs[:_MAX_KEYS], *more)) if pairs else ""
    return f"{comparison.scenario.topology_name}: {base}{settings}"


def _report(row: Row) -> str:
    """Return the values that a policy reports, such as the mean wait."""
    prefix = "policy_report."
    values = {name.removeprefix(prefix): row[name] for name in row if name.startswith(prefix)}
    return ", ".join(f"{name} {value:.4g}" for name, value in values.items())
