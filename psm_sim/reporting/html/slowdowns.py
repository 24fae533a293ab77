"""Interactive figure of the distribution of page slowdown."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from psm_sim.reporting.html.figure_style import make_figure, put_legend_below
from psm_sim.reporting.marks import SLOWDOWN_TICKS, labels_of, run_style, slowdown_steps
from psm_sim.simulation.result import Result, complete_slowdowns

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812


def draw_distributions(runs: Sequence[Result]) -> Figure:
    """Plot one cumulative distribution per policy, with a logarithmic slowdown axis."""
    from bokeh.models import HoverTool

    labels, steps = labels_of(runs), [slowdown_steps(complete_slowdowns(run)) for run in runs]
    ends = [end for slowdowns, _ in steps for end in (slowdowns[0], slowdowns[-1]) if isfinite(end)] or [1.0]
    figure = make_figure(
        380,
        x_axis_type="log",
        x_range=(min(1.0, *ends), 1.1 * max(ends)),
        x_axis_label="page slowdown",
        y_axis_label="cumulative share of pages",
    )
    figure.xaxis.ticker = list(SLOWDOWN_TICKS)
    for run, name, (slowdowns, shares) in zip(runs, labels, steps, strict=True):
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
    put_legend_below(figure, max(map(len, labels)))
    return figure
