"""Caption of the tables of a comparison: units, intervals, settings, and reports of policies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.common.formatting import format_duration, format_number
from psm_sim.reporting.comparison_table import MARK, SAVED, Column, Table, tables_of
from psm_sim.simulation.preset import load_preset
from psm_sim.simulation.result import describe_failures
from psm_sim.simulation.run_averages import Average

if TYPE_CHECKING:
    from psm_sim.simulation import Comparison, Result

_MAX_KEYS = 3
"""Maximum number of keys of a topology in the caption."""

_UNLIKE = 1.5
"""Ratio of simulated and recorded page time, either way, above which the caption warns."""


def caption(comparison: Comparison, preset: str = "", columns: Sequence[Column] | None = None) -> list[str]:
    """Return the lines that explain the numbers and state the settings of the run.

    *preset* is the name of the preset of *comparison*, if any. *columns* are those that are shown, if some
    are left out.
    """
    tables = tables_of(comparison)
    if columns is None:
        columns = [column for table in tables for column in table.columns]
    profile = f", profile {comparison.scenario.profile}" if comparison.scenario.profile else ""
    preset_text = f", preset {preset}" if preset else ""
    settings = "".join(f", {key}={value}" for key, value in comparison.settings.items())
    topology = f"topology {_topology(comparison)}{profile}{preset_text}{settings}"
    remark = comparison.workload.remark.rstrip(".")
    return [
        *(f"No result for {name}: {reason.rstrip('.')}." for name, reason in comparison.missing.items()),
        *(line for line in (_units(tables), _marks(comparison, columns)) if line),
        *_intervals(comparison, columns),
        *dict.fromkeys(sentence for table in tables for sentence in table.constants),
        *_recorded(comparison),
        f"{_traffic(comparison)}, {comparison.seed_range}, {topology}.",
        f"{comparison.workload.name}: {remark}.",
        *reports(comparison.runs),
        *failures(comparison.shown),
        *([f"{note}."] if preset and (note := load_preset(preset).note()) else []),
    ]


def _units(tables: Sequence[Table]) -> str:
    """Return what energy, slowdown and latency refer to."""
    sentences = []
    pages = next((table for table in tables if table.runs[0].loads_pages), None)
    if pages is not None:
        by_station = {run.station: _page_view(run) for run in reversed(pages.runs)}
        lengths = [
            f"{_seconds(length_s)}{f' ({name})' if len(by_station) > 1 else ''}"
            for name, length_s in reversed(by_station.items())
        ]
        sentences += [
            f"Energy is per page view of {' and '.join(lengths)} on average, think time included.",
            "Slowdown is page time relative to no power saving.",
        ]
        if any(run.failed_pages for run in pages.runs):
            sentences.append("Page time and slowdown cover complete pages, energy all pages.")
    directions = {name for table in tables for run in table.runs for name in run.latency}
    if directions & {"down", "up"}:
        sentences.append("Latency (down, up) is from sending a message to its arrival.")
    if directions & {"round_trip_down", "round_trip_up"}:
        sentences.append("RTT is from sending a message, down or up, to the arrival of its reply.")
    return " ".join(sentences)


def _page_view(run: Result) -> float:
    """Return the mean time from the end of a page to that of the next one, in seconds."""
    return run.simulated_s / len(run.page_records)


def _seconds(value: float) -> str:
    return f"{format_number(value, 0 if value >= 10 else 1)} s"


def _marks(comparison: Comparison, columns: Sequence[Column]) -> str:
    """Return the meaning of the mark of baselines and of the column of savings."""
    sentences = [f"{MARK.strip()} marks a baseline."] if comparison.baselines else []
    period = comparison.resolved_topology.beacon.dtim_period
    if period > 1 and any(run.parameters.get("listen_interval") == period for run in comparison.baselines):
        sentences.append("As devices at this access point do, psm wakes for DTIM beacons only.")
    saved = [column for column in columns if column.measure == SAVED]
    if saved:
        policy = comparison.reference_runs[0].policy_name
        ratio = next((cell for column in saved for cell in column.cells if cell.endswith("x")), None)
        hint = f"; {ratio} means that many times its energy" if ratio else ""
        sentences.append(f"Column 'saved' is the energy saving relative to {policy}{hint}.")
    return " ".join(sentences)


def _intervals(comparison: Comparison, columns: Sequence[Column]) -> list[str]:
    """Return the line that explains the confidence intervals, if there are any."""
    run, groups = comparison.runs[0], {column.measure for column in columns if any(column.half_widths)}
    if not groups or not isinstance(run, Average):
        return []
    paired = ", paired for 'saved'" if SAVED in groups else ""
    count = f"{len(run.names)} {run.KIND}s"
    return [f"± is the 95 % confidence interval (Student's t) of the mean over {count}{paired}."]


def _recorded(comparison: Comparison) -> list[str]:
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


def _traffic(comparison: Comparison) -> str:
    """Return the number of pages, or the simulated time of devices, and the trace."""
    run = comparison.runs[0]
    if any(run.loads_pages for run in comparison.shown):
        amount = f"{comparison.pages} page{'' if comparison.pages == 1 else 's'}"
    else:
        amount = format_duration(run.simulated_s / (len(run.results) if isinstance(run, Average) else 1))
    return f"{amount} of trace {comparison.trace}"


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
