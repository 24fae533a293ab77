"""Interactive figures of page slowdown: its distribution, and its mean, percentiles and maximum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from psm_sim.reporting.figures.style import interactive_style_of
from psm_sim.reporting.html.energy_bars import unique_names
from psm_sim.reporting.html.figure_style import make_figure, put_legend_below
from psm_sim.reporting.html.trade_off import Mark

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

_TICKS = (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000)

MAX_STEPS = 1_000
"""Maximum number of steps of a line. For more pages, every n-th page and the slowest one are plotted."""


def draw_distributions(slowdowns: Mapping[str, Sequence[float]]) -> Figure:
    """Plot one cumulative distribution per policy, with a logarithmic slowdown axis."""
    from bokeh.models import HoverTool

    figure = make_figure(380, x_axis_type="log", x_axis_label="page slowdown")
    figure.yaxis.axis_label = "cumulative share of pages"
    figure.xaxis.ticker = list(_TICKS)
    for index, (name, values) in enumerate(slowdowns.items()):
        xs, shares = slowdown_steps(values)
        colour, _, dash = interactive_style_of(index)
        line = figure.step(
            xs,
            shares,
            mode="after",
            name=name,
            color=colour,
            line_dash=dash,
            line_width=2,
            legend_label=name,
        )
        tips = [("", "$name"), ("slowdown", "$x{0.000}"), ("cumulative share", "$y{0.000}")]
        figure.add_tools(HoverTool(renderers=[line], tooltips=tips))
    put_legend_below(figure, max(map(len, slowdowns)))
    return figure


def slowdown_steps(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the slowdowns in ascending order, and the share of pages at or below each of them."""
    ranked, count = sorted(values), len(values)
    every = -(-count // MAX_STEPS)
    ends = sorted({*range(every, count + 1, every), count})
    return [ranked[0], *(ranked[end - 1] for end in ends)], [0.0, *(end / count for end in ends)]


_POINTS = {
    "median": ("circle", "#0072B2"),
    "mean": ("diamond", "#009E73"),
    "p95": ("square", "#E69F00"),
    "max": ("triangle", "#D55E00"),
}


def draw_ranges(marks: Sequence[Mark]) -> Figure:
    """Plot one row per mark, with a line from the median to the maximum and a point at each measure."""
    from bokeh.models import ColumnDataSource, HoverTool

    names = unique_names([mark.series for mark in marks])
    figure = make_figure(
        150 + 26 * len(marks), y_range=names[::-1], x_axis_type="log", x_axis_label="page slowdown"
    )
    figure.xaxis.ticker = list(_TICKS)
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
