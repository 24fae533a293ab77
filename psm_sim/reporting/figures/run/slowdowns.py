"""Figure of the cumulative distribution of page slowdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.run.policy_styles import style_of, subtitle, truncate_name
from psm_sim.reporting.figures.style import common_style, new_figure
from psm_sim.simulation.failed_pages import complete_slowdowns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison


def draw(comparison: Comparison) -> Figure:
    """Plot one cumulative distribution per policy, over the pages of all seeds or clients."""
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.2)
    with common_style():
        for index, run in enumerate(comparison.shown):
            values = sorted(complete_slowdowns(run))
            shares = [(number + 1) / len(values) for number in range(len(values))]
            colour, _, line = style_of(index)
            axes.step(
                [values[0], *values],
                [0.0, *shares],
                where="post",
                color=colour,
                linestyle=line,
                label=truncate_name(run.policy),
            )
        largest = max(run.slowdown.max for run in comparison.shown)
        axes.set_xscale("log")
        ticks = [tick for tick in (1, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000) if tick <= 1.2 * largest]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("page slowdown")
        axes.set_ylabel("cumulative share of pages")
        axes.set_title(
            subtitle(comparison).replace(" with 95 % intervals", "").replace("means over", "pages of"),
            loc="left",
        )
        figure.legend(loc="outside lower center", ncols=3)
    return figure
