"""Bar chart of the energy by radio state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.run.policy_styles import subtitle, truncate_name
from psm_sim.reporting.figures.style import common_style, new_figure
from psm_sim.simulation.run_averages import Average

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison

_STATES = (("asleep", "#56B4E9", ""), ("awake", "#0072B2", "///"), ("beacons", "#E69F00", "..."))
_EDGE = "#222222"


def draw(comparison: Comparison) -> Figure:
    """Plot one stacked horizontal bar per policy, with the confidence interval of the total energy.

    Bars that are far longer than the others are truncated and labelled with their energy.
    """
    runs = comparison.shown
    figure, (axes,) = new_figure(width_in=6.4, height_in=1.5 + 0.38 * len(runs))
    energies = sorted(run.energy_per_page_j for run in runs)
    limit = 1.25 * next((energy for energy in reversed(energies) if energy <= 3 * energies[0]), energies[-1])
    with common_style():
        left = [0.0] * len(runs)
        for state, colour, hatch in _STATES:
            widths = [run.energy_by_state_per_page_j[state] for run in runs]
            axes.barh(
                range(len(runs)), widths, 0.62, left, label=state, color=colour, hatch=hatch, edgecolor=_EDGE
            )
            left = [start + width for start, width in zip(left, widths, strict=True)]
        for row, run in enumerate(runs):
            half_width = run.interval("energy_per_page_j").half_width if isinstance(run, Average) else 0.0
            if half_width:
                axes.errorbar(
                    [left[row]], [row], xerr=[half_width], color="black", capsize=3, linestyle="none"
                )
            text = f"{left[row]:.2f} J" + (" (truncated)" if left[row] > limit else "")
            inside = left[row] > limit
            axes.annotate(
                text,
                (limit if inside else left[row] + half_width, row),
                (-4 if inside else 4, 0),
                ha="right" if inside else "left",
                va="center",
                textcoords="offset points",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            )
        axes.set_xlim(0, limit)
        axes.set_yticks(range(len(runs)), [truncate_name(run.policy) for run in runs])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("energy (J per page)")
        axes.set_title(subtitle(comparison), loc="left")
        figure.legend(loc="outside lower center", ncols=3)
    return figure
