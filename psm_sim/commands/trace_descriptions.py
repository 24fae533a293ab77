"""Text descriptions of traces for ``psm_sim trace info``: recordings, captures, profiles and traffic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.formatting import escape_unprintable, format_duration
from psm_sim.common.parameters import build
from psm_sim.common.random_streams import random_stream
from psm_sim.workload.capture_workloads import CapturedTrace
from psm_sim.workload.recordings.capture.ip_packets import TCP, UDP
from psm_sim.workload.recordings.recording import Recording
from psm_sim.workload.regimes import Regimes
from psm_sim.workload.trace_profile import Profile
from psm_sim.workload.traffic_file import TrafficPart, TrafficTrace
from psm_sim.workload.workload import Workload

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
_HEADS = ("mean", *(f"{p:.0%}" for p in QUANTILES[:-1]), "max")
_BAR_WIDTH = 40
_HOUR_S = 3600.0
_PART_HEADS = ("sender", "transport", "timing", "period s", "bytes", "answer", "an hour")


def describe_recording(recording: Recording) -> str:
    """Return the description of a recording."""
    busiest = int(recording.busiest()[0])
    span = recording.pages_of(busiest)
    facts = {
        "Format": recording.format,
        "Records": f"{recording.records:,}",
        "Span": format_duration(recording.span_s) if recording.span_s else "unknown",
        "Clients": f"{len(recording.clients):,} (busiest: {recording.clients[busiest]}, "
        f"{span.stop - span.start:,} pages)",
        "Pages": f"{recording.pages:,}",
        "Objects": f"{recording.size.size:,}",
    }
    return "\n".join([*_fact_lines(facts), "", *_page_lines(recording)])


def describe_capture(captured: CapturedTrace) -> str:
    """Return the description of a capture: packets per direction and reconstructed pages."""
    capture = captured.capture
    protocol = capture.rows["protocol"]
    kinds = {"TCP": protocol == TCP, "UDP": protocol == UDP, "other": ~np.isin(protocol, (TCP, UDP))}
    facts = {
        "Format": capture.format,
        "Frames": f"{capture.frames:,} ({capture.packets:,} IP packets)",
        "Client": f"{capture.client}, {capture.rows.size:,} packets",
        "Span": format_duration(float(capture.at_s[-1])),
        "Busiest": ", ".join(f"{address} ({count:,})" for address, count in capture.others),
        "Packets": ", ".join(f"{name} {int(mask.sum()):,}" for name, mask in kinds.items()),
    }
    rows = [line for name, up in (("down", False), ("up", True)) for line in _packet_rows(captured, name, up)]
    return "\n".join([*_fact_lines(facts), "", *_quantile_table(rows), "", *_reconstructed_pages(captured)])


def _packet_rows(captured: CapturedTrace, name: str, up: bool) -> list[str]:
    mask = captured.capture.uplink == up
    gaps_s, sizes = np.diff(captured.capture.at_s[mask]), captured.capture.rows["length"][mask]
    return [_quantile_row(f"{name}, between s", gaps_s), _quantile_row(f"{name}, bytes", sizes)]


def _reconstructed_pages(captured: CapturedTrace) -> list[str]:
    try:
        return _page_lines(captured.recording)
    except InputError as error:
        return [str(error)]


def describe_profile(profile: Profile) -> str:
    """Return the description of a trace profile."""
    facts = {
        "Format": "trace profile" + (", synthetic" if profile.synthetic else ""),
        "Name": profile.name,
        "Remark": profile.remark,
        "Source": profile.source or "unknown",
    }
    rows = [_row(name, table.mean, table.at(QUANTILES)) for name, table in profile.tables.items()]
    think = profile.tables["think_s"].at((np.arange(100_000) + 0.5) / 100_000)
    return "\n".join([*_fact_lines(facts), "", *_quantile_table(rows), *_histogram(think)])


def describe_pushes(workload: Workload) -> str:
    """Return the description of push traffic: the number and the intervals of one sampled hour."""
    intervals_s = np.diff(workload.messages.at_s)
    facts = {
        "Format": "push traffic, synthetic",
        "Name": workload.name,
        "Remark": workload.remark,
        "Pushes": f"{len(workload.messages):,} in the first hour, with the default parameters and seed 1",
    }
    row = _row("between_s", float(intervals_s.mean()), np.quantile(intervals_s, QUANTILES))
    return "\n".join([*_fact_lines(facts), "", *_quantile_table([row])])


def describe_regimes(regimes: Regimes) -> str:
    """Return the description of a trace with regimes: their means and durations."""
    facts = {
        "Format": "trace profile with regimes" + (", synthetic" if regimes.synthetic else ""),
        "Name": regimes.name,
        "Remark": regimes.remark,
        "Source": regimes.source or "unknown",
        "Order": "+".join(f"{name}*{pages}" for name, pages in regimes.pages.items()),
    }
    heads = ("pages", "think s", "delay s", "objects", "bytes each", "stretch s")
    rows = ["means".ljust(20) + "".join(f"{head:>12}" for head in heads)]
    for name, pages in regimes.pages.items():
        tables = regimes.profiles[name].tables
        think_s, objects = tables["think_s"].mean, tables["files_per_page"].mean
        delay_s = tables["server_delay_s"].mean if "server_delay_s" in tables else 0.0
        size = tables.get("reply_bytes", tables.get("image_bytes"))
        size_bytes = size.mean if size is not None else np.nan
        numbers = (pages, think_s, delay_s, objects, size_bytes, pages * (think_s + delay_s))
        rows.append(f"{name:<20}" + "".join(f"{_number(number):>12}" for number in numbers))
    return "\n".join(
        [
            *_fact_lines(facts),
            "",
            *rows,
            "",
            "stretch: duration of a regime, think time and server delay per page",
        ]
    )


def describe_traffic(traffic: TrafficTrace) -> str:
    """Return the description of a traffic trace: the defaults of each part, and its messages per hour.

    The hour is sampled with seed 1.
    """
    pages = f"sampled from {traffic.name}" if traffic.profile else f"none; pauses of {traffic.stretch_s} s"
    facts = {
        "Format": "traffic trace" + (", synthetic" if traffic.synthetic else ""),
        "Name": traffic.name,
        "Remark": traffic.remark,
        "Source": traffic.source or "unknown",
        "Pages": pages,
    }
    heads = "part".ljust(16) + "".join(f"{head:>11}" for head in _PART_HEADS)
    rows = [_part_row(name, texts, traffic.name) for name, texts in traffic.parts.items()]
    return "\n".join([*_fact_lines(facts), "", heads, *rows])


def _part_row(name: str, texts: dict[str, str], trace: str) -> str:
    owner = f"trace {trace}: {name}"
    part: TrafficPart = build(TrafficPart, texts, owner)
    sent = part.rows(_HOUR_S, 0, random_stream(1, f"workload.traffic.{name}"), owner).size
    cells = (
        part.sender, part.transport, part.timing, f"{part.period_s:g}", f"{part.bytes:,}",
        f"{part.reply_bytes:,}", f"{sent:,}"
    )  # fmt: skip
    return name.ljust(16) + "".join(f"{cell:>11}" for cell in cells)


def _page_lines(recording: Recording) -> list[str]:
    """Return the lines of the page quantiles and the histogram of think times."""
    rows = [_quantile_row(name, values, unit) for name, values, unit in _quantities(recording)]
    think = recording.think_s[~np.isnan(recording.think_s)]
    return [*_quantile_table(rows), *_histogram(think)]


def _quantile_row(name: str, values: NDArray[Any], unit: float = 1.0) -> str:
    """Return a line with the mean and the quantiles of values, which are reordered in place, times *unit*."""
    return _row(name, *_mean_and_quantiles(values, unit))


def _quantities(recording: Recording) -> Iterator[tuple[str, NDArray[Any], float]]:
    """Yield name, values and unit of each quantity; a generator, since a trace may be large."""
    yield "think time, s", recording.think_s[~np.isnan(recording.think_s)], 1.0
    yield "objects per page", recording.objects_per_page, 1.0
    yield "main object, B", recording.size[recording.first[:-1]], 1.0
    is_embedded = np.ones(recording.size.size, dtype=bool)
    is_embedded[recording.first[:-1]] = False
    yield "embedded object, B", recording.size[is_embedded], 1.0
    if recording.request_bytes is not None:
        yield "request, B", recording.request_bytes[recording.request_bytes > 0], 1.0
    yield "server delay, s", recording.delay_us[recording.delay_us >= 0], 1e-6


def _mean_and_quantiles(values: NDArray[Any], unit: float) -> tuple[float, NDArray[Any]]:
    if not values.size:
        return np.nan, np.full(len(QUANTILES), np.nan)
    return float(values.mean()) * unit, np.quantile(values, QUANTILES, overwrite_input=True) * unit


def _fact_lines(facts: dict[str, str]) -> list[str]:
    """Return one line for each fact, starting with its name."""
    return [f"{name:<8} {escape_unprintable(value)}" for name, value in facts.items()]


def _row(name: str, mean: float, quantiles: NDArray[Any]) -> str:
    return f"{name:<20}" + "".join(f"{_number(value):>10}" for value in (mean, *quantiles.tolist()))


def _quantile_table(rows: list[str]) -> list[str]:
    """Return the lines of a table of quantiles, with a heading."""
    return ["quantiles".ljust(20) + "".join(f"{head:>10}" for head in _HEADS), *rows]


def _number(value: float) -> str:
    """Format a number in at most nine characters, with at least three digits and rarely an exponent."""
    if np.isnan(value):
        return "-"
    if value >= 1000:
        return f"{value:,.0f}" if value < 1e7 else f"{value:.3g}"
    return f"{value:.3g}"


def _histogram(think_s: NDArray[Any]) -> list[str]:
    """Return the lines of a histogram of think times with two bars per decade, from the first to the last."""
    if not think_s.size:
        return []
    edges = [0.0, *(10 ** (k / 2) for k in range(11)), np.inf]
    counts = np.histogram(think_s, edges)[0]
    filled = np.flatnonzero(counts)
    lines = ["", "think time, s"]
    for bin_ in range(filled[0], filled[-1] + 1):
        share, bar = counts[bin_] / think_s.size, "#" * round(_BAR_WIDTH * counts[bin_] / counts.max())
        low, high = _number(edges[bin_]), _number(edges[bin_ + 1])
        lines.append(f"{low:>8} - {high:<8} {share:>6.1%}  {bar}".rstrip())
    return lines
