"""Figure of the listening study."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import policy_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FAMILIES = ("anticipate", "outstanding", "psm", "bsd", "lpsm", "cbgz", "cbgz2", "lasec")
"""Plotted families. The last three are rules of ``listen``; the other rules lie outside the panels."""


def draw_listening(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot energy against slowdown, one panel per trace and one curve per family.

    Returns the figure and its caption. The columns of *frame* are ``title, family, policy, slowdown,
    energy_j, hindsight_j``.
    """
    titles = list(dict.fromkeys(frame["title"]))
    columns = min(3, len(titles))
    figure, panels = new_figure(ceil(len(titles) / columns), columns, 8.4, 2.9 * ceil(len(titles) / columns))
    for axes, title in zip(panels, titles, strict=False):
        _panel(axes, frame[frame["title"] == title], title)
    for axes in panels[len(titles) :]:
        axes.set_visible(False)
    add_legend(figure, panels[0])
    return figure, (
        "Energy against mean slowdown, one curve per family of policies over its parameter. The dotted line"
        " is the offline optimum without delay, plus the beacons that the longest doze requires."
    )


def _panel(axes: Axes, shown: pd.DataFrame, title: str) -> None:
    for family in _FAMILIES:
        style = policy_style(f"listen:{family}" if family in _FAMILIES[-3:] else family)
        points = shown[shown["family"] == family].sort_values("slowdown")
        axes.plot(
            (points["slowdown"] - 1).clip(lower=1e-3),
            points["energy_j"],
            label=family,
            color=style.colour,
            marker=style.marker,
            linestyle=style.line,
            markersize=4,
            linewidth=1,
        )
    axes.axhline(
        shown["hindsight_j"].iloc[0], color="black", linestyle=":", linewidth=1, label="offline optimum"
    )
    axes.set(xscale="log", xlabel="mean slowdown - 1", ylabel="energy (J per page)")
    axes.set_title(title, fontsize=9)
