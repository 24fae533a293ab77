"""Interactive timeline of pages, radio state, beacons and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.html.figure_style import make_figure
from psm_sim.reporting.style import EVENT_COLOURS, GREY

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

_COLOURS = {"page": GREY, **EVENT_COLOURS}
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
