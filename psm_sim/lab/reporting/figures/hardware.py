"""Figures of the device study, and of the validation against measured currents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.style import COLOURS, LINES, MARKERS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def draw_trade_off(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot mean power against mean delay, one panel per traffic.

    Returns the figure and its caption. The columns of *frame* are ``traffic, policy, mw, delay_ms``.
    """
    titles = list(dict.fromkeys(frame["traffic"]))
    figure, panels = new_figure(2, 2, 8.4, 6.4)
    for axes, title in zip(panels, titles, strict=False):
        points = frame[frame["traffic"] == title]
        for index, (policy, mw, delay_ms) in enumerate(
            zip(points["policy"], points["mw"], points["delay_ms"], strict=True)
        ):
            style = {"color": COLOURS[index % len(COLOURS)], "label": policy, "markersize": 5}
            axes.plot(max(delay_ms, 0.1), mw, MARKERS[(index // 4) % len(MARKERS)], **style)
        axes.set(xscale="log", yscale="log")
        axes.set_title(title, fontsize=9)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, fontsize=7, frameon=False)
    figure.supxlabel("mean delay (ms, lower values are plotted at 0.1)", fontsize=9)
    figure.supylabel("mean power (mW)", fontsize=9)
    return figure, "Mean power of an ESP32-C6 against mean delay, one mark per policy."


def draw_crossover(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot mean power against the mean wait of a frame, one curve per chip and family.

    Returns the figure and its caption. The columns of *frame* are ``chip, family, wait_s, mw``.
    """
    figure, (axes,) = new_figure(1, 1, 5.6, 3.8)
    for index, ((chip, family), curve) in enumerate(frame.groupby(["chip", "family"], sort=True)):
        name = f"{chip}, {'DTIM' if family == 'psm' else 'TWT'}"
        axes.plot(
            curve["wait_s"],
            curve["mw"],
            label=name,
            color=COLOURS[index],
            marker=MARKERS[index],
            linestyle=LINES[index],
            markersize=4,
        )
    axes.set(xscale="log", yscale="log", xlabel="mean wait (s)", ylabel="mean power (mW)")
    axes.legend(fontsize=8, frameon=False)
    return figure, "Mean power of an idle station against the mean wait of a frame, for DTIM periods and TWT."


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
    ends, share = [0.05, 3.5], frame["tolerance"].iloc[0] / 100
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
