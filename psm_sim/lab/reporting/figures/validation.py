"""Figure of the validation against measured currents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.style import COLOURS, MARKERS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def draw_currents(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot simulated against measured mean currents.

    Returns the figure and its caption. The columns of *frame* are ``label, measured, ours, verdict,
    tolerance``.
    """
    figure, (axes,) = new_figure(1, 1, 5.6, 4.6)
    for index, (verdict, points) in enumerate(frame.groupby("verdict", sort=True)):
        axes.plot(
            points["measured"],
            points["ours"],
            MARKERS[index],
            color=COLOURS[index],
            label=verdict,
            markersize=5,
        )
    ends, share = [0.08, 3.5], frame["tolerance"].iloc[0] / 100
    axes.plot(ends, ends, color="black", linewidth=0.8)
    axes.fill_between(
        ends, [end * (1 - share) for end in ends], [end * (1 + share) for end in ends], alpha=0.2
    )
    for row in frame.itertuples():
        axes.annotate(
            str(row.label), (row.measured, row.ours), (4, -8), textcoords="offset points", fontsize=6
        )
    axes.set(xscale="log", yscale="log", xlabel="measured at DTIM 3 (mA)", ylabel="predicted (mA)")
    axes.legend(fontsize=8, frameon=False)
    return (
        figure,
        "Predicted and measured mean current of an idle station at DTIM 3. The band is the tolerance.",
    )
