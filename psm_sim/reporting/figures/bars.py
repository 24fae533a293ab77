"""Bar charts: energy by radio state and slowdown of each policy (thesis, figures 2-6 and 2-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.policy_names import stacked
from psm_sim.reporting.figures.style import new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

STATES = (
    ("asleep_j", "asleep", "#56B4E9", ""),
    ("awake_j", "awake", "#0072B2", "///"),
    ("beacons_j", "beacons", "#E69F00", "..."),
)
"""Column, name, colour and hatch of each radio state, from the bottom."""

_EDGE = "#222222"
_PLATE = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}


def energy(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``policy, awake_j, asleep_j, beacons_j`` as stacked bars, in joules per page.

    A column ``hindsight_j`` is drawn as a line: the best schedule without delay.
    """
    # No power saving takes ten times the energy: its bar would flatten all others, so the caption tells it.
    dwarfing = frame["policy"] == "always-on"
    shown = frame[~dwarfing]
    figure, (axes,) = new_figure(width_in=6.4, height_in=3.6)
    base = [0.0] * len(shown)
    for column, name, colour, hatch in STATES:
        heights = shown[column].tolist()
        axes.bar(
            range(len(shown)), heights, 0.62, base, label=name, color=colour, hatch=hatch, edgecolor=_EDGE
        )
        base = [below + height for below, height in zip(base, heights, strict=True)]
    for place, total in enumerate(base):
        axes.annotate(
            f"{total:.2f}", (place, total), (0, 3), textcoords="offset points", ha="center", bbox=_PLATE
        )
    if "hindsight_j" in frame:
        axes.axhline(
            frame["hindsight_j"].iloc[0],
            color=_EDGE,
            linestyle="--",
            linewidth=1,
            label="hindsight, no delay",
        )
    axes.set_xticks(range(len(shown)), [stacked(policy) for policy in shown["policy"]])
    axes.set_ylabel("energy (J per page)")
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside lower center", ncols=len(STATES) + 1, frameon=False, reverse=True)
    away = frame[dwarfing][[column for column, *_ in STATES]].sum(axis=1)
    told = f"; without power saving it is {away.iloc[0]:.1f} J, not drawn" if len(away) else ""
    return figure, f"Mean energy a page by radio state{told}."


def slowdown(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``policy, slowdown, half_width`` as bars from 1, with confidence intervals."""
    shown = frame[frame["policy"] != "always-on"]
    figure, (axes,) = new_figure(width_in=6.4, height_in=3.2)
    tops, widths = shown["slowdown"].tolist(), shown["half_width"].tolist()
    heights = [top - 1 for top in tops]
    axes.bar(range(len(shown)), heights, 0.62, 1, yerr=widths, capsize=4, color="#56B4E9", edgecolor=_EDGE)
    for place, (top, width) in enumerate(zip(tops, widths, strict=True)):
        axes.annotate(f"{top:.2f}", (place, top + width), (0, 3), textcoords="offset points", ha="center")
    axes.set_xticks(range(len(shown)), [stacked(policy) for policy in shown["policy"]])
    axes.set_ylabel("slowdown")
    axes.grid(visible=False, axis="x")
    axes.axhline(1, color=_EDGE, linewidth=0.8)
    axes.margins(y=0.12)
    axes.set_ylim(bottom=1)
    return figure, "Mean slowdown of a page over no power saving, with 95 % confidence intervals."
