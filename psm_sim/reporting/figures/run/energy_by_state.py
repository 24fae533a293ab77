"""Energy by radio state: one bar per policy, with the interval of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.run.policy_styles import subtitle, truncate_name
from psm_sim.reporting.figures.style import common_style, new_figure
from psm_sim.simulation.seed_average import Average

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison

_STATES = (("asleep", "#56B4E9", ""), ("awake", "#0072B2", "///"), ("beacons", "#E69F00", "..."))
_EDGE = "#222222"


def draw(comparison: Comparison) -> Figure:
    """Draw horizontal bars, so that long names of policies can be read; the energy axis is cut for none."""
    runs = comparison.shown
    figure, (axes,) = new_figure(width_in=6.4, height_in=1.5 + 0.38 * len(runs))
    largest = sorted(run.energy_per_page_j for run in runs)
    limit = 1.25 * next((each for each in reversed(largest) if each <= 3 * largest[0]), largest[-1])
    with common_style():
        left = [0.0] * len(runs)
        for state, colour, hatch in _STATES:
            widths = [run.energy_by_state_per_page_j[state] for run in runs]
            axes.barh(
                range(len(runs)), widths, 0.62, left, label=state, color=colour, hatch=hatch, edgecolor=_EDGE
            )
            left = [begin + width for begin, width in zip(left, widths, strict=True)]
        for place, run in enumerate(runs):
            spread = run.interval("energy_per_page_j").half_width if isinstance(run, Average) else 0.0
            if spread:
                axes.errorbar(
                    [left[place]], [place], xerr=[spread], color="black", capsize=3, linestyle="none"
                )
            text = f"{left[place]:.2f} J" + (" (bar is cut)" if left[place] > limit else "")
            inside = left[place] > limit
            axes.annotate(
                text,
                (limit if inside else left[place] + spread, place),
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
