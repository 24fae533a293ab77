"""Figure of the setting search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.style import COLOURS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_DOT_AREA = 12
"""Area of a dot in square typographic points, per setting that it represents."""


def draw_settings(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot how many published numbers of LPSM and of BSD each setting reproduces.

    Returns the figure and its caption. The columns of *frame* are ``lpsm, bsd, frontier, setting``, with one
    row per setting. The area of a dot is proportional to the number of settings with these counts. Settings
    on the Pareto frontier are connected and labelled.
    """
    figure, (axes,) = new_figure(width_in=6.8, height_in=4.4)
    counts = frame.groupby(["lpsm", "bsd"]).size().reset_index(name="settings")
    axes.scatter(counts["lpsm"], counts["bsd"], s=_DOT_AREA * counts["settings"], color=COLOURS[0], alpha=0.6)
    best = frame[frame["frontier"]].sort_values("lpsm")
    axes.plot(best["lpsm"], best["bsd"], color="black", linewidth=1, marker="o", markersize=3)
    for lpsm, bsd, setting in zip(best["lpsm"], best["bsd"], best["setting"], strict=True):
        think, server, *_ = setting.split(", ")
        axes.annotate(f"{think}\n{server}", (lpsm, bsd), (4, 4), textcoords="offset points", fontsize=7)
    axes.set_xlabel("reproduced numbers of LPSM (count)")
    axes.set_ylabel("reproduced numbers of BSD (count)")
    axes.margins(0.16)
    return figure, (
        "Published numbers that a single setting reproduces, without calibrating numbers (LPSM) and the bound"
        " (BSD). The area of a dot is the number of settings. The line is the Pareto frontier."
    )
