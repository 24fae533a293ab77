"""Interactive figure of the distribution of page slowdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.reporting.html.figure_style import make_figure, put_legend_below
from psm_sim.reporting.marks import SLOWDOWN_TICKS, run_style, short_name, slowdown_steps
from psm_sim.simulation.result import Result, complete_slowdowns

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812


def draw_distributions(runs: Sequence[Result]) -> Figure:
    """Plot one cumulative distribution per policy, with a logarithmic slowdown axis."""
    from bokeh.models import HoverTool

    steps = {short_name(run.label): slowdown_steps(complete_slowdowns(run)) for run in runs}
    lowest = min(slowdowns[0] for slowdowns, _ in steps.values())
    highest = max(slowdowns[-1] for slowdowns, _ in steps.values())
    figure = make_figure(
        380,
        x_axis_type="log",
        x_range=(min(1.0, lowest), 1.1 * highest),
        x_axis_label="page slowdown",
        y_axis_label="cumulative share of pages",
    )
    figure.xaxis.ticker = list(SLOWDOWN_TICKS)
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
