"""Timeline of a page: rows for pages, radio, beacons and frames, which the reader fills and zooms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.html.figure_style import make_figure

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

_SPANS = {"page": "#999999", "radio awake": "#0072B2", "frame held": "#E69F00"}
_TIMES = {"beacon heard": "#CC79A7", "frame up": "#D55E00", "frame down": "#009E73"}
_ROWS = ("frame down", "frame held", "frame up", "beacon heard", "radio awake", "page")


def draw() -> Figure:
    """Draw the rows, empty: the page fills them with the policy and the span of time that are chosen."""
    figure = make_figure(
        300,
        tools="xpan,xbox_zoom,xwheel_zoom,reset,save",
        y_range=list(_ROWS),
        x_range=(0.0, 1.0),
        x_axis_label="time since the run began (s)",
        active_drag="xpan",
    )
    for row, colour in _SPANS.items():
        _spans(figure, row, colour)
    for row, colour in _TIMES.items():
        _times(figure, row, colour)
    return figure


def _spans(figure: Figure, row: str, colour: str) -> None:
    from bokeh.models import ColumnDataSource, HoverTool

    source = ColumnDataSource({"left": [], "right": [], "row": [], "told": []}, tags=[row])
    bars = figure.hbar(y="row", left="left", right="right", height=0.5, source=source, color=colour)
    tips = [("", "@told"), ("from", "@left{0.0000} s"), ("to", "@right{0.0000} s")]
    figure.add_tools(HoverTool(renderers=[bars], tooltips=tips))


def _times(figure: Figure, row: str, colour: str) -> None:
    from bokeh.models import ColumnDataSource, HoverTool

    source = ColumnDataSource({"time": [], "row": []}, tags=[row])
    marks = figure.scatter("time", "row", marker="dash", angle=1.5708, size=16, source=source, color=colour)
    figure.add_tools(HoverTool(renderers=[marks], tooltips=[(row, "@time{0.0000} s")]))
