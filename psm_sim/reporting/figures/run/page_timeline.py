"""Timeline of one page: what the radio did, the beacons heard, the frames held and the transfers."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.figures.run.policy_styles import representative_run, truncate_name
from psm_sim.reporting.figures.style import common_style, new_figure
from psm_sim.simulation.timeline import Recorder, observe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_sim.simulation import Result

AMONG = 20
"""The number of pages from which the one drawn is chosen."""

_MARGIN = 0.15
_BEFORE_S = 1.0  # what lies farther before the page is outside the panel, and would only fill the file
_ROWS = {"radio awake": 3, "beacon heard": 2, "frames up": 1, "frames down": 0}
_LINKS = {"wireless up": ("frames up", "#D55E00"), "wireless down": ("frames down", "#009E73")}
_HELD = "#E69F00"


def draw(results: Sequence[Result]) -> Figure:
    """Draw one page under each policy, at most four: among the first pages with images of median slowdown."""
    runs = [representative_run(run) for run in results[:4]]
    number = _median_page(runs[0])
    figure, panels = new_figure(len(runs), 1, width_in=7.2, height_in=1.1 + 1.5 * len(runs))
    longest_s = max(run.page_records[number - 1].page_time_s for run in runs)
    with common_style():
        for axes, run in zip(panels, runs, strict=True):
            _panel(axes, run, number)
            axes.set_xlim(-_MARGIN * longest_s, (1 + _MARGIN) * longest_s)
        panels[-1].set_xlabel("time since the page was requested (s)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
    return figure


def _median_page(run: Result) -> int:
    first = run.page_records[:AMONG]
    complete = [each for each in first if not isnan(each.slowdown)] or first
    ranked = sorted(
        [each for each in complete if each.objects > 2] or complete, key=lambda each: each.slowdown
    )
    return ranked[len(ranked) // 2].page


def _panel(axes: Axes, run: Result, number: int) -> None:
    recorder = Recorder()
    observe(run, [recorder], number)
    record = run.page_records[number - 1]
    events = sorted(recorder.events, key=lambda event: event["time_s"])
    _radio(axes, events, record.start_s)
    beacons = [event["time_s"] - record.start_s for event in events if event["event"] == "beacon"]
    beacons = [time_s for time_s in beacons if time_s > -_BEFORE_S]
    axes.plot(beacons, [2] * len(beacons), "|", color="black", markersize=9, label="beacon heard")
    _frames(axes, events, record.start_s)
    if not run.traffic.dropped_frames:  # else it is not known which frame was held
        _held(axes, events, record.start_s)
    axes.axvline(record.page_time_s, color="#999999", linestyle="--", linewidth=1, label="page complete")
    axes.set_ylim(-0.6, 3.6)
    axes.set_yticks(list(_ROWS.values()), list(_ROWS))
    axes.grid(visible=False, axis="y")
    loaded = f"{record.objects} objects in {record.page_time_s:.2f} s"
    words = f"{truncate_name(run.policy)}: page {number}, {loaded}, slowdown {record.slowdown:.2f}"
    axes.set_title(words, loc="left")


def _radio(axes: Axes, events: list[dict[str, Any]], zero_s: float) -> None:
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
    axes.broken_barh(spans, (2.7, 0.6), color="#0072B2", label="radio awake")


def _frames(axes: Axes, events: list[dict[str, Any]], zero_s: float) -> None:
    for link, (row, colour) in _LINKS.items():
        sent = [event for event in events if event.get("link") == link]
        times = [event["time_s"] - zero_s for event in sent if event["time_s"] > zero_s - _BEFORE_S]
        axes.plot(times, [_ROWS[row]] * len(times), ".", color=colour, markersize=4, label=row)


def _held(axes: Axes, events: list[dict[str, Any]], zero_s: float) -> None:
    """Draw how long the access point held frames: from each one's arrival there until it was sent on."""
    reached = [event["arrives_s"] for event in events if event.get("link") == "wired down"]
    sent_s = [event["time_s"] for event in events if event.get("link") == "wireless down"]
    held = [(at - zero_s, on - at) for at, on in zip(reached, sent_s, strict=False) if on - at > 1e-9]
    held = [each for each in held if each[0] > -_BEFORE_S]
    axes.broken_barh(held, (-0.35, 0.18), color=_HELD, label="held for the station")
