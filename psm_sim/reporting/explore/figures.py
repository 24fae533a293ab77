"""Interactive figures of the explore page, with bokeh."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
from psm_sim.reporting.marks import BEST_KNOWN, LABELS, Mark, axis_start, split_far
from psm_sim.reporting.style import EVENT_COLOURS, GREY, OPTIMUM_COLOUR

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

_TOOLS = "pan,box_zoom,wheel_zoom,reset,save"
"""Tools of a figure. Wheel zoom is off until it is selected, so that the wheel scrolls the page."""

_FONT_SIZE = "14px"
"""Size of the texts of a figure. The default of Bokeh, 11 px, is small on a projector."""

_MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle",
    "D": "diamond",
    "v": "inverted_triangle",
    "P": "plus",
    "X": "x",
    "*": "star",
    "h": "hex",
}
"""Bokeh marker of each matplotlib marker."""


def _make_figure(height_px: int, *, tools: str = _TOOLS, **options: Any) -> Figure:
    """Return an empty figure of the width of the page, and *height_px* high.

    See :func:`bokeh.plotting.figure` for *tools* and further *options*.
    """
    from bokeh.plotting import figure

    empty = figure(height=height_px, tools=tools, sizing_mode="stretch_width", min_width=260, **options)
    empty.toolbar.logo = None
    for axis in empty.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = axis.major_label_text_font_size = _FONT_SIZE
    return empty


def draw_plane(marks: Sequence[Mark], measures: tuple[str, str], frontier: Sequence[ParetoCorner]) -> Figure:
    """Plot one mark per policy with confidence intervals, and the lowest known *frontier*.

    *measures* are the measures on the x and y axis. Clicking an entry of the legend hides or shows its mark.
    Policies with far higher energy are hidden initially.
    """
    x, y = measures
    figure = _make_figure(440, x_axis_label=LABELS[x], y_axis_label=LABELS[y])
    figure.y_range.range_padding = 0.2  # type: ignore[attr-defined]
    figure.x_range.only_visible = figure.y_range.only_visible = True  # type: ignore[attr-defined]
    if (start := axis_start(x, [mark.values[x] for mark in marks])) is not None:
        figure.x_range.start = start  # type: ignore[attr-defined]
    if frontier:
        xs, ys = [corner.slowdown for corner in frontier], [corner.energy_j for corner in frontier]
        figure.line(xs, ys, color=OPTIMUM_COLOUR, line_width=2, legend_label=BEST_KNOWN)
    near, _ = split_far(marks, y)
    for mark in marks:
        _plot_mark(figure, mark, x, y, visible=mark in near)
    legend = figure.legend[0]
    legend.click_policy = "hide"
    legend.ncols = 2 if max(len(mark.label) for mark in marks) <= 14 else 1
    legend.label_text_font_size = _FONT_SIZE
    legend.border_line_color = None
    legend.location = "left"
    figure.add_layout(legend, "below")
    return figure


def _plot_mark(figure: Figure, mark: Mark, x: str, y: str, visible: bool) -> None:
    from bokeh.models import HoverTool

    look: dict[str, Any] = {"color": mark.style.colour, "legend_label": mark.label, "visible": visible}
    (x_low, x_high), (y_low, y_high) = mark.ends(x), mark.ends(y)
    # Use segments instead of whiskers, because a legend can hide only glyphs.
    figure.segment(x0=[x_low], y0=[mark.values[y]], x1=[x_high], y1=[mark.values[y]], line_width=1.5, **look)
    figure.segment(x0=[mark.values[x]], y0=[y_low], x1=[mark.values[x]], y1=[y_high], line_width=1.5, **look)
    marker = _MARKERS[mark.style.marker]
    points = figure.scatter(
        [mark.values[x]], [mark.values[y]], marker=marker, size=11, fill_alpha=0.75, name=mark.name, **look
    )
    tips = [("", "$name"), *((LABELS[measure], _format_value(mark, measure)) for measure in (x, y))]
    figure.add_tools(HoverTool(renderers=[points], tooltips=tips))


def _format_value(mark: Mark, measure: str) -> str:
    value, half_width = mark.values[measure], mark.half_widths.get(measure, nan)
    return f"{value:.4f} ± {half_width:.4f}" if isfinite(half_width) else f"{value:.4f}"


_COLOURS = {"page": GREY, **EVENT_COLOURS}
_SPANS = ("page", "radio awake", "frame buffered")
_TIMES = ("beacon received", "uplink frame", "downlink frame")
_ROWS = ("downlink frame", "frame buffered", "uplink frame", "beacon received", "radio awake", "page")


def draw_timeline(label: str) -> Figure:
    """Return a figure with empty rows for the events of one policy; *label* is the label of its time axis."""
    figure = _make_figure(
        300,
        tools="xpan,xbox_zoom,xwheel_zoom,reset,save",
        y_range=list(_ROWS),
        x_range=(0.0, 1.0),
        x_axis_label=label,
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
