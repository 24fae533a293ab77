"""Interactive figure of the median, mean, 95th percentile and maximum page slowdown of each policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.reporting.html.energy_bars import unique_names
from psm_sim.reporting.html.figure_style import SLOWDOWN_TICKS, make_figure, put_legend_below
from psm_sim.reporting.html.trade_off import Mark

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

_POINTS = {
    "median": ("circle", "#0072B2"),
    "mean": ("diamond", "#009E73"),
    "p95": ("square", "#E69F00"),
    "max": ("triangle", "#D55E00"),
}


def draw(marks: Sequence[Mark]) -> Figure:
    """Plot one row per mark, with a line from the median to the maximum and a point at each measure."""
    from bokeh.models import ColumnDataSource, HoverTool

    names = unique_names([mark.series for mark in marks])
    figure = make_figure(
        150 + 26 * len(marks), y_range=names[::-1], x_axis_type="log", x_axis_label="page slowdown"
    )
    figure.xaxis.ticker = list(SLOWDOWN_TICKS)
    columns = {point: [mark.values[f"slowdown.{point}"] for mark in marks] for point in _POINTS}
    source = ColumnDataSource({"row": names, "name": [mark.name for mark in marks], **columns})
    figure.segment(x0="median", y0="row", x1="max", y1="row", source=source, color="#888888", line_width=2)
    tips = [("", "@name"), *((point, f"@{point}{{0.000}}") for point in _POINTS)]
    for point, (marker, colour) in _POINTS.items():
        points = figure.scatter(
            point, "row", marker=marker, size=10, color=colour, source=source, legend_label=point
        )
        figure.add_tools(HoverTool(renderers=[points], tooltips=tips))
    put_legend_below(figure, max(map(len, _POINTS)))
    return figure
