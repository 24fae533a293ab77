"""Interactive figures of page slowdown: its distribution, and its mean, percentiles and maximum."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from psm_sim.reporting.html.energy_bars import unique_names
from psm_sim.reporting.html.figure_style import make_figure, put_legend_below
from psm_sim.reporting.marks import SLOWDOWN_TICKS, Mark, run_style, short_name, slowdown_steps
from psm_sim.reporting.style import BLUE, GREEN, GREY, ORANGE, VERMILLION
from psm_sim.simulation.result import Result, complete_slowdowns

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812


def draw_distributions(runs: Sequence[Result]) -> Figure:
    """Plot one cumulative distribution per policy, with a logarithmic slowdown axis."""
    from bokeh.models import HoverTool

    steps = {short_name(run.label): slowdown_steps(complete_slowdowns(run)) for run in runs}
    figure = _figure(380, [slowdown for slowdowns, _ in steps.values() for slowdown in slowdowns])
    figure.yaxis.axis_label = "cumulative share of pages"
    for run, (name, (slowdowns, shares)) in zip(runs, steps.items(), strict=True):
        style = run_style(run)
        line = figure.step(
            slowdowns,
            shares,
            mode="after",
            name=name,
            color=style.colour,
            line_dash=style.bokeh_line,
            line_width=2,
            legend_label=name,
        )
        tips = [("", "$name"), ("slowdown", "$x{0.000}"), ("cumulative share", "$y{0.000}")]
        figure.add_tools(HoverTool(renderers=[line], tooltips=tips))
    put_legend_below(figure, max(map(len, steps)))
    return figure


def _figure(height_px: int, slowdowns: Sequence[float], **options: Any) -> Figure:
    """Return a figure with a logarithmic slowdown axis that begins at 1, or at a lower slowdown."""
    figure = make_figure(
        height_px,
        x_axis_type="log",
        x_axis_label="page slowdown",
        x_range=(min(1.0, *slowdowns), 1.1 * max(slowdowns)),
        **options,
    )
    figure.xaxis.ticker = list(SLOWDOWN_TICKS)
    return figure


_POINTS = {
    "median": ("circle", BLUE),
    "mean": ("diamond", GREEN),
    "p95": ("square", ORANGE),
    "max": ("triangle", VERMILLION),
}


def draw_ranges(marks: Sequence[Mark]) -> Figure:
    """Plot one row per mark, with a line from the median to the maximum and a point at each measure."""
    from bokeh.models import ColumnDataSource, HoverTool

    names = unique_names([mark.label for mark in marks])
    columns = {point: [mark.values[f"slowdown.{point}"] for mark in marks] for point in _POINTS}
    figure = _figure(150 + 26 * len(marks), [*chain.from_iterable(columns.values())], y_range=names[::-1])
    source = ColumnDataSource({"row": names, "name": [mark.name for mark in marks], **columns})
    figure.segment(x0="median", y0="row", x1="max", y1="row", source=source, color=GREY, line_width=2)
    tips = [("", "@name"), *((point, f"@{point}{{0.000}}") for point in _POINTS)]
    for point, (marker, colour) in _POINTS.items():
        points = figure.scatter(
            point, "row", marker=marker, size=10, color=colour, source=source, legend_label=point
        )
        figure.add_tools(HoverTool(renderers=[points], tooltips=tips))
    put_legend_below(figure, max(map(len, _POINTS)))
    return figure
