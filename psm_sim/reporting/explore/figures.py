"""Figures of the interactive page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.html import timeline, trade_off
from psm_sim.reporting.marks import axes_of, marks_of

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

    from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
    from psm_sim.simulation import Comparison


def draw_plane(comparison: Comparison, frontier: Sequence[ParetoCorner]) -> Figure:
    """Plot energy against slowdown, or power against latency if there are no pages."""
    line = [(corner.slowdown, corner.energy_j) for corner in frontier]
    return trade_off.draw(marks_of(comparison), line, *axes_of(comparison))


def draw_timeline(events: Mapping[str, Any], page: Sequence[Any]) -> Figure:
    """Plot radio, beacons and frames, zoomed to one page, or to its first message if it has no objects.

    Parameters
    ----------
    events : mapping
        Events from :func:`~psm_sim.reporting.run_events.record_events`.
    page : sequence
        One of its ``pages``.
    """
    from bokeh.models import ColumnDataSource

    figure = timeline.draw()
    start_s, end_s = _span(events, page)
    figure.x_range.update(start=start_s, end=end_s)
    spans = {
        "page": [(start, end) for _, start, end, _ in events["pages"]],
        "radio awake": events["awake"],
        "frame buffered": events["buffered"],
    }
    texts = {"page": [f"page {number}, slowdown {slowdown}" for number, _, _, slowdown in events["pages"]]}
    beacons = [first + k * every for first, count, every in events["beacons"] for k in range(count)]
    times = {"beacon received": beacons, "uplink frame": events["up"], "downlink frame": events["down"]}
    sources: dict[str, Any] = {source.tags[0]: source for source in figure.select(type=ColumnDataSource)}
    for row, pairs in spans.items():
        left, right = [start for start, _ in pairs], [end for _, end in pairs]
        text = texts.get(row, [row] * len(pairs))
        sources[row].data = {"left": left, "right": right, "row": [row] * len(pairs), "text": text}
    for row, values in times.items():
        sources[row].data = {"time": values, "row": [row] * len(values)}
    return figure


def _span(events: Mapping[str, Any], page: Sequence[Any]) -> tuple[float, float]:
    """Return start and end of what the timeline shows of a page, in seconds."""
    _, start_s, end_s, _ = page
    if end_s > start_s:
        margin_s = 0.3 * (end_s - start_s)
        return start_s - margin_s, end_s + margin_s
    previous_s = max((end for _, _, end, _ in events["pages"] if end < start_s), default=0.0)
    # The first second has the frames with which the policy starts.
    frames = [time for time in (*events["up"], *events["down"]) if time > previous_s + 1]
    first_s = min(frames, default=previous_s)
    return first_s - 0.5, first_s + 2.0
