"""Figure of energy against slowdown, with the frontier of the offline optimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner
from psm_sim.reporting.figures.run.policy_styles import style_of, subtitle, truncate_name
from psm_sim.reporting.figures.style import common_style, new_figure
from psm_sim.simulation.run_averages import MEASURES, Average

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison, Result

_FAR = 3.0
"""Energy relative to the minimum above which a policy is not plotted, because it would flatten the others."""


def draw(comparison: Comparison, frontier: Sequence[ParetoCorner] = ()) -> Figure:
    """Plot one mark with error bars per policy, and the frontier of the offline optimum.

    Policies with far higher energy, such as always-on, are listed in the title instead.
    """
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.4)
    near, far = _split(comparison.shown)
    with common_style():
        for index, run in enumerate(near):
            _plot_mark(axes, run, index)
        if frontier:
            xs, ys = [corner.slowdown for corner in frontier], [corner.energy_j for corner in frontier]
            axes.plot(xs, ys, color="black", linewidth=1.2, label="offline optimum (event-chain model)")
        axes.set_xlabel("mean page slowdown")
        axes.set_ylabel("energy (J per page)")
        axes.margins(0.08)
        omitted = [f"{run.policy}: {run.energy_per_page_j:.1f} J (not plotted)" for run in far]
        axes.set_title("\n".join([subtitle(comparison), *omitted]), loc="left")
        figure.legend(loc="outside lower center", ncols=3)
    return figure


def _split(runs: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    lowest = min(run.energy_per_page_j for run in runs)
    near = [run for run in runs if run.energy_per_page_j <= _FAR * lowest]
    return near, [run for run in runs if run not in near]


def _plot_mark(axes: Axes, run: Result, index: int) -> None:
    half_widths = [_half_width(run, name) for name in ("slowdown.mean", "energy_per_page_j")]
    colour, marker, _ = style_of(index)
    values = [MEASURES[name](run) for name in ("slowdown.mean", "energy_per_page_j")]
    axes.errorbar(
        values[:1],
        values[1:],
        xerr=half_widths[0],
        yerr=half_widths[1],
        color=colour,
        marker=marker,
        markersize=7,
        capsize=3,
        linestyle="none",
        label=truncate_name(run.policy),
    )


def _half_width(run: Result, measure: str) -> float | None:
    return run.interval(measure).half_width if isinstance(run, Average) else None
