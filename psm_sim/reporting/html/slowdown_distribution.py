"""Interactive figure of the cumulative distribution of page slowdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from psm_sim.reporting.html.figure_style import COLOURS, DASHES, SLOWDOWN_TICKS, make_figure, put_legend_below

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

MAX_STEPS = 1_000
"""Maximum number of steps of a line. For more pages, every n-th page and the slowest one are plotted."""


def draw(slowdowns: Mapping[str, Sequence[float]]) -> Figure:
    """Plot one cumulative distribution per policy, with a logarithmic slowdown axis."""
    from bokeh.models import HoverTool

    figure = make_figure(380, x_axis_type="log", x_axis_label="page slowdown")
    figure.yaxis.axis_label = "cumulative share of pages"
    figure.xaxis.ticker = list(SLOWDOWN_TICKS)
    for index, (name, values) in enumerate(slowdowns.items()):
        xs, shares = slowdown_steps(values)
        line = figure.step(
            xs,
            shares,
            mode="after",
            name=name,
            color=COLOURS[index % 8],
            line_dash=DASHES[index % 8],
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
