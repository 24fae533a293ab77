"""Interactive timeline of pages, radio state, beacons and frames, and its data as compact lists of times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.network import Observer
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.reporting.figures.style import EVENT_COLOURS
from psm_sim.reporting.html.figure_style import make_figure
from psm_sim.simulation.result import Result
from psm_sim.simulation.result_parts import PageRecord
from psm_sim.simulation.timeline import observe

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

_COLOURS = {"page": "#999999", "beacon received": "#CC79A7", **EVENT_COLOURS}
_SPANS = ("page", "radio awake", "frame buffered")
_TIMES = ("beacon received", "uplink frame", "downlink frame")
_ROWS = ("downlink frame", "frame buffered", "uplink frame", "beacon received", "radio awake", "page")


def draw() -> Figure:
    """Return a figure with empty rows. ``page.js`` fills them with the selected policy and page."""
    figure = make_figure(
        300,
        tools="xpan,xbox_zoom,xwheel_zoom,reset,save",
        y_range=list(_ROWS),
        x_range=(0.0, 1.0),
        x_axis_label="simulation time (s)",
        active_drag="xpan",
    )
    for row in _SPANS:
        _add_spans(figure, row, _COLOURS[row])
    for row in _TIMES:
        _add_times(figure, row, _COLOURS[row])
    return figure


def _add_spans(figure: Figure, row: str, colour: str) -> None:
    from bokeh.models import ColumnDataSource, HoverTool

    source = ColumnDataSource({"left": [], "right": [], "row": [], "text": []}, tags=[row])
    bars = figure.hbar(y="row", left="left", right="right", height=0.5, source=source, color=colour)
    tips = [("", "@text"), ("from", "@left{0.0000} s"), ("to", "@right{0.0000} s")]
    figure.add_tools(HoverTool(renderers=[bars], tooltips=tips))


def _add_times(figure: Figure, row: str, colour: str) -> None:
    from bokeh.models import ColumnDataSource, HoverTool

    source = ColumnDataSource({"time": [], "row": []}, tags=[row])
    marks = figure.scatter("time", "row", marker="dash", angle=1.5708, size=16, source=source, color=colour)
    figure.add_tools(HoverTool(renderers=[marks], tooltips=[(row, "@time{0.0000} s")]))


MAX_FRAMES = 8_000
"""Approximate maximum number of frames of one policy in the timeline."""

_LISTS = {"wireless up": "up", "wireless down": "down", "wired down": "arrivals"}
_DIGITS = 6
_INSTANT_S = 1e-5
_PAYLOAD_BYTES, _FRAMES_PER_OBJECT = 1460, 8


class _TimelineObserver(Observer):
    """Observer that records awake periods, runs of beacons and times of frames."""

    def __init__(self) -> None:
        self.awake: list[list[float]] = [[0.0, 0.0]]
        self.received: list[list[float]] = []
        self.frames: dict[str, list[float]] = {name: [] for name in _LISTS.values()}

    def radio(self, time_s: float, awake: bool) -> None:
        """Start or end an awake period."""
        if awake:
            self.awake.append([_round(time_s), _round(time_s)])
        else:
            self.awake[-1][1] = _round(time_s)

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Record a run of received beacons: the time of the first, their number, and their interval."""
        self.received.append([_round(first_s), count, _round(every_s) if count > 1 else 0.0])

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Record the time at which a wireless frame is queued, or a wired one arrives at the access point."""
        if link.name in _LISTS:
            time_s = arrives_s if link.name == "wired down" else queued_s
            self.frames[_LISTS[link.name]].append(_round(time_s))

    def finish(self, time_s: float) -> None:
        """End the last awake period."""
        self.awake[-1][1] = max(self.awake[-1][1], _round(time_s))


def record_timeline(run: Result) -> dict[str, Any]:
    """Repeat a run of one seed, and return the timeline of its first pages.

    Returns
    -------
    dict
        Times in seconds. ``pages`` has the number, request time, end time and slowdown of each page.
        ``awake`` and ``buffered`` have the start and end of each period; ``buffered`` is empty if frames
        were dropped, because the buffered frames cannot be identified then. ``beacons`` has the time of the
        first beacon, the number of beacons and the interval of each run of received beacons. ``up`` and
        ``down`` have the times of the frames on the wireless link.
    """
    count = fitting_page_count(run.page_records)
    observer = _TimelineObserver()
    observe(run, [observer], count)
    pages = [
        [
            page_record.page,
            _round(page_record.start_s),
            _round(page_record.start_s + page_record.page_time_s),
            f"{page_record.slowdown:.4g}",
        ]
        for page_record in run.page_records[:count]
    ]
    frames = observer.frames
    buffered = [] if run.traffic.dropped_frames else _buffered_periods(frames["arrivals"], frames["down"])
    up, down = frames["up"], frames["down"]
    periods = {"awake": observer.awake, "buffered": buffered}
    return {"pages": pages, **periods, "beacons": observer.received, "up": up, "down": down}


def fitting_page_count(records: Sequence[PageRecord]) -> int:
    """Return the number of first pages with about :data:`MAX_FRAMES` frames, at least 1."""
    total = 0
    for count, record in enumerate(records, 1):
        total += 2 * record.bytes // _PAYLOAD_BYTES + _FRAMES_PER_OBJECT * record.objects
        if total > MAX_FRAMES:
            return max(count - 1, 1)
    return len(records)


def _buffered_periods(arrivals: Sequence[float], sent: Sequence[float]) -> list[list[float]]:
    """Return the periods for which frames were buffered. Frames are sent in the order of arrival."""
    return [
        [arrived_s, sent_s]
        for arrived_s, sent_s in zip(arrivals, sent, strict=False)
        if sent_s - arrived_s > _INSTANT_S
    ]


def _round(time_s: float) -> float:
    return round(float(time_s), _DIGITS)
