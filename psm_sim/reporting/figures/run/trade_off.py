"""Energy against slowdown: one mark per policy with its error bars, and hindsight's frontier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from psm_sim.campaign.pareto_frontier import ParetoCorner
from psm_sim.reporting.figures.run.policy_styles import style_of, subtitle, truncate_name
from psm_sim.reporting.figures.style import common_style, new_figure
from psm_sim.simulation.seed_average import MEASURES, Average

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison, Result

_FAR = 3.0
"""The energy, in that of the least, from which a policy is not drawn: all others would lie on a line."""


def draw(comparison: Comparison, frontier: Sequence[ParetoCorner] = ()) -> Figure:
    """Draw a comparison.

    A policy without power saving that takes far more energy than the others is named, not drawn.
    """
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.4)
    near, far = _split(comparison.shown)
    with common_style():
        for place, run in enumerate(near):
            _mark(axes, run, place)
        if frontier:
            xs, ys = [point.slowdown for point in frontier], [point.energy_j for point in frontier]
            axes.plot(xs, ys, color="black", linewidth=1.2, label="hindsight (delays on the chain)")
        axes.set_xlabel("mean slowdown of a page")
        axes.set_ylabel("energy (J per page)")
        axes.margins(0.08)
        told = [f"{run.policy}: {run.energy_per_page_j:.1f} J, far above" for run in far]
        axes.set_title("\n".join([subtitle(comparison), *told]), loc="left")
        figure.legend(loc="outside lower center", ncols=3)
    return figure


def _split(runs: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    least = min(run.energy_per_page_j for run in runs)
    near = [run for run in runs if run.energy_per_page_j <= _FAR * least]
    return near, [run for run in runs if run not in near]


def _mark(axes: Axes, run: Result, place: int) -> None:
    spread = [_half_width(run, name) for name in ("slowdown.mean", "energy_per_page_j")]
    colour, marker, _ = style_of(place)
    values = [MEASURES[name](run) for name in ("slowdown.mean", "energy_per_page_j")]
    axes.errorbar(
        values[:1],
        values[1:],
        xerr=spread[0],
        yerr=spread[1],
        color=colour,
        marker=marker,
        markersize=7,
        capsize=3,
        linestyle="none",
        label=truncate_name(run.policy),
    )


def _half_width(run: Result, measure: str) -> float | None:
    return run.interval(measure).half_width if isinstance(run, Average) else None
