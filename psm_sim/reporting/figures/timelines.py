"""Figures of runs over time: one page in detail, and the polling times of all pages."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.figures.style import (
    COLOURS,
    EVENT_COLOURS,
    common_style,
    new_figure,
    representative_run,
    truncate_name,
)
from psm_sim.simulation.timeline import PollingRecorder, Recorder, observe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison, Result

AMONG = 20
"""Number of first pages among which the plotted page is selected."""

_MARGIN = 0.15
_BEFORE_S = 1.0  # omit earlier events, which lie outside the panel and only enlarge the file
_ROWS = {"radio awake": 3, "beacon received": 2, "uplink frames": 1, "downlink frames": 0}
_LINKS = {"wireless up": "uplink frame", "wireless down": "downlink frame"}


def draw_page_timeline(results: Sequence[Result]) -> Figure:
    """Plot one page of the first station under each of at most four policies.

    The page has the median slowdown of the first pages with images, under the first policy.
    """
    same = [result for result in results if result.station == results[0].station]
    runs = [representative_run(run) for run in same[:4]]
    number = _median_page(runs[0])
    figure, panels = new_figure(len(runs), 1, width_in=7.2, height_in=1.1 + 1.5 * len(runs))
    longest_s = max(run.page_records[number - 1].page_time_s for run in runs)
    with common_style():
        for axes, run in zip(panels, runs, strict=True):
            _plot_page(axes, run, number)
            axes.set_xlim(-_MARGIN * longest_s, (1 + _MARGIN) * longest_s)
        panels[-1].set_xlabel("time since the page was requested (s)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _median_page(run: Result) -> int:
    first = run.page_records[:AMONG]
    complete = [record for record in first if not isnan(record.slowdown)] or first
    ranked = sorted(
        [record for record in complete if record.objects > 2] or complete, key=lambda record: record.slowdown
    )
    return ranked[len(ranked) // 2].page


def _plot_page(axes: Axes, run: Result, number: int) -> None:
    recorder = Recorder()
    observe(run, [recorder], number)
    record = run.page_records[number - 1]
    events = sorted(recorder.events, key=lambda event: event["time_s"])
    _plot_radio(axes, events, record.start_s)
    beacons = [event["time_s"] - record.start_s for event in events if event["event"] == "beacon"]
    beacons = [time_s for time_s in beacons if time_s > -_BEFORE_S]
    axes.plot(beacons, [2] * len(beacons), "|", color="black", markersize=9, label="beacon received")
    _plot_frames(axes, events, record.start_s)
    if not run.traffic.dropped_frames:  # the buffered frames cannot be identified if any was dropped
        _plot_buffered(axes, events, record.start_s)
    axes.axvline(record.page_time_s, color="#999999", linestyle="--", linewidth=1, label="page complete")
    axes.set_ylim(-0.6, 3.6)
    axes.set_yticks(list(_ROWS.values()), list(_ROWS))
    axes.grid(visible=False, axis="y")
    summary = f"{record.objects} objects in {record.page_time_s:.2f} s"
    title = f"{truncate_name(run.policy)}: page {number}, {summary}, slowdown {record.slowdown:.2f}"
    axes.set_title(title, loc="left")


def _plot_radio(axes: Axes, events: list[dict[str, Any]], zero_s: float) -> None:
    awake_s: float | None = 0.0
    spans = []
    for event in events:
        if event["event"] == "wakes":
            awake_s = event["time_s"]
        elif event["event"] == "dozes" and awake_s is not None:
            spans.append((awake_s - zero_s, event["time_s"] - awake_s))
            awake_s = None
    if awake_s is not None:
        spans.append((awake_s - zero_s, events[-1]["time_s"] - awake_s))
    spans = [span for span in spans if sum(span) > -_BEFORE_S]
    axes.broken_barh(spans, (2.7, 0.6), color=EVENT_COLOURS["radio awake"], label="radio awake")


def _plot_frames(axes: Axes, events: list[dict[str, Any]], zero_s: float) -> None:
    for link, event_name in _LINKS.items():
        sent = [event for event in events if event.get("link") == link]
        times = [event["time_s"] - zero_s for event in sent if event["time_s"] > zero_s - _BEFORE_S]
        colour, row = EVENT_COLOURS[event_name], f"{event_name}s"
        axes.plot(times, [_ROWS[row]] * len(times), ".", color=colour, markersize=4, label=row)


def _plot_buffered(axes: Axes, events: list[dict[str, Any]], zero_s: float) -> None:
    """Plot the periods for which the access point buffered frames, from arrival to transmission.

    Parameters
    ----------
    axes : Axes
        Panel to plot to.
    events : list of dict
        Events of the run.
    zero_s : float
        Simulation time at which the time axis starts, in seconds.
    """
    arrivals_s = [event["arrives_s"] for event in events if event.get("link") == "wired down"]
    sent_s = [event["time_s"] for event in events if event.get("link") == "wireless down"]
    periods = [
        (arrival - zero_s, sent - arrival)
        for arrival, sent in zip(arrivals_s, sent_s, strict=False)
        if sent - arrival > 1e-9
    ]
    periods = [period for period in periods if period[0] > -_BEFORE_S]
    axes.broken_barh(
        periods,
        (-0.35, 0.18),
        color=EVENT_COLOURS["frame buffered"],
        label="frames buffered at the access point",
    )


MAX_RUNS, MAX_PAGES = 4, 500
"""Maximum number of policies, and number of first pages, in the figure."""


def draw_polling_times(comparison: Comparison) -> Figure | None:
    """Plot one panel per policy for the first seed or client. Return None if no polling time varies."""
    varying = []
    for run in comparison.runs:
        polling = PollingRecorder()
        observe(representative_run(run), [polling], MAX_PAGES)
        if len(set(polling.beacons_of)) > 1:
            varying.append((run.label, polling))
    if not varying:
        return None
    return _plot_polling_times(
        varying[:MAX_RUNS], 1000 * comparison.resolved_topology.beacon.interval_ms / 1000
    )


def _plot_polling_times(pollings: list[tuple[str, PollingRecorder]], beacon_ms: float) -> Figure:
    figure, panels = new_figure(len(pollings), 1, width_in=6.8, height_in=0.9 + 1.6 * len(pollings))
    with common_style():
        for axes, (policy, polling) in zip(panels, pollings, strict=True):
            times_ms = [beacon_ms * beacons for beacons in polling.beacons_of]
            axes.step(polling.times_s, times_ms, where="post", color=COLOURS[0], linewidth=0.7)
            axes.set_title(truncate_name(policy), loc="left")
            axes.set_ylabel("polling time (ms)")
            axes.set_ylim(bottom=0)
            axes.margins(x=0.01)
            axes.sharex(panels[0])
        panels[-1].set_xlabel("time (s)")
    return figure
