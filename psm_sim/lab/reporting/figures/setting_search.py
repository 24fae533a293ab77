"""Settings of the search: the published numbers of LPSM that each meets, against those of BSD."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.style import COLOURS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_DOT = 12
"""The area of a dot in square points, for each setting that it stands for."""


def draw_settings(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``lpsm, bsd, frontier, setting``, one row per setting: a dot for each pair of counts.

    Its area is proportional to the settings there; those of the frontier are joined and named.
    """
    figure, (axes,) = new_figure(width_in=6.8, height_in=4.4)
    counts = frame.groupby(["lpsm", "bsd"]).size().reset_index(name="settings")
    axes.scatter(counts["lpsm"], counts["bsd"], s=_DOT * counts["settings"], color=COLOURS[0], alpha=0.6)
    best = frame[frame["frontier"]].sort_values("lpsm")
    axes.plot(best["lpsm"], best["bsd"], color="black", linewidth=1, marker="o", markersize=3)
    for lpsm, bsd, setting in zip(best["lpsm"], best["bsd"], best["setting"], strict=True):
        think, server, *_ = setting.split(", ")
        axes.annotate(f"{think}\n{server}", (lpsm, bsd), (4, 4), textcoords="offset points", fontsize=7)
    axes.set_xlabel("LPSM's published numbers met (count)")
    axes.set_ylabel("BSD's published numbers met (count)")
    axes.margins(0.16)
    return figure, (
        "Published numbers met by a single setting, LPSM's (of those that do not calibrate) against BSD's"
        " (the bound not counted); a dot's area: how many settings; the line: no setting meets more of both."
    )
