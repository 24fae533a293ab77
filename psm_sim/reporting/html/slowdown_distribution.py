"""Distribution of page slowdown: the share of pages at or below each slowdown, one line per policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from psm_sim.reporting.html.figure_style import COLOURS, DASHES, SLOWDOWN_TICKS, make_figure, put_legend_below

if TYPE_CHECKING:
    from bokeh.plotting import figure as Figure  # noqa: N812

MAX_STEPS = 1_000
"""The most steps of a line; of more pages every n-th is drawn, the slowest always."""


def draw(slowdowns: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the slowdowns of each policy's pages, on a logarithmic axis."""
    from bokeh.models import HoverTool

    figure = make_figure(380, x_axis_type="log", x_axis_label="slowdown of a page")
    figure.yaxis.axis_label = "share of pages at or below"
    figure.xaxis.ticker = list(SLOWDOWN_TICKS)
    for place, (name, values) in enumerate(slowdowns.items()):
        xs, shares = slowdown_steps(values)
        line = figure.step(
            xs,
            shares,
            mode="after",
            name=name,
            color=COLOURS[place % 8],
            line_dash=DASHES[place % 8],
            line_width=2,
            legend_label=name,
        )
        tips = [("", "$name"), ("slowdown", "$x{0.000}"), ("share of pages", "$y{0.000}")]
        figure.add_tools(HoverTool(renderers=[line], tooltips=tips))
    put_legend_below(figure, max(map(len, slowdowns)))
    return figure


def slowdown_steps(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return slowdowns in rising order and the share of pages at or below each, from 0 to 1."""
    ranked, count = sorted(values), len(values)
    every = -(-count // MAX_STEPS)
    ends = sorted({*range(every, count + 1, every), count})
    return [ranked[0], *(ranked[end - 1] for end in ends)], [0.0, *(end / count for end in ends)]
