"""Figures of the device study, and of the validation against measured currents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import GREY, policy_style, series_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def draw_trade_off(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot mean power against mean delay, one panel per traffic.

    Returns the figure and its caption. The columns of *frame* are ``traffic, policy, mw, delay_ms``.
    """
    titles = list(dict.fromkeys(frame["traffic"]))
    columns = min(2, len(titles))
    rows = -(-len(titles) // columns)
    figure, panels = new_figure(rows, columns, 8.4, 1.2 + 2.8 * rows)
    for axes, title in zip(panels, titles, strict=False):
        points = frame[frame["traffic"] == title]
        for policy, mw, delay_ms in zip(points["policy"], points["mw"], points["delay_ms"], strict=True):
            style = policy_style(policy)
            axes.plot(max(delay_ms, 0.1), mw, style.marker, color=style.colour, label=policy, markersize=6)
        axes.set(xscale="log", yscale="log")
        axes.set(xlabel="mean delay (ms, at least 0.1)", ylabel="mean power (mW)")
        axes.set_title(title, fontsize=9)
    for axes in panels[len(titles) :]:
        axes.set_visible(False)
    add_legend(figure, panels[0])
    return figure, (
        "Mean power of an ESP32-C6 against mean delay, one mark per policy. Lower delays are plotted at"
        " 0.1 ms."
    )


def draw_crossover(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot mean power against the mean wait of a frame, one curve per chip and family.

    Returns the figure and its caption. The columns of *frame* are ``chip, family, wait_s, mw``.
    """
    figure, (axes,) = new_figure(1, 1, 5.6, 3.8)
    for index, ((chip, family), curve) in enumerate(frame.groupby(["chip", "family"], sort=True)):
        name, style = f"{chip}, {'DTIM' if family == 'psm' else 'TWT'}", series_style(index)
        axes.plot(
            curve["wait_s"],
            curve["mw"],
            label=name,
            color=style.colour,
            marker=style.marker,
            linestyle=style.line,
            markersize=4,
        )
    axes.set(xscale="log", yscale="log", xlabel="mean wait (s)", ylabel="mean power (mW)")
    add_legend(figure, axes)
    return figure, "Mean power of an idle station against the mean wait of a frame, for DTIM periods and TWT."


def draw_currents(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot simulated and measured mean currents, one row per station.

    Returns the figure and its caption. The columns of *frame* are ``label, measured, ours, verdict,
    tolerance``.
    """
    shown = frame.sort_values("measured", ascending=False, ignore_index=True)
    figure, (axes,) = new_figure(1, 1, 6.4, 1.2 + 0.24 * len(shown))
    measured, tolerance = shown["measured"], shown["tolerance"] / 100 * shown["measured"]
    axes.barh(shown.index, 2 * tolerance, 0.7, measured - tolerance, color=GREY, alpha=0.4, label="tolerance")
    axes.plot(measured, shown.index, "|", color="black", markersize=9, label="measured")
    for index, (verdict, points) in enumerate(shown.groupby("verdict", sort=True)):
        style = series_style(index)
        axes.plot(
            points["ours"], points.index, style.marker, color=style.colour, label=f"simulated, {verdict}"
        )
    axes.set_yticks(shown.index, shown["label"])
    axes.invert_yaxis()
    axes.set_xscale("log")
    ticks = (0.05, 0.1, 0.2, 0.5, 1, 2)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("mean current at DTIM 3 (mA)")
    add_legend(figure, axes)
    return (
        figure,
        "Mean current of an idle station at DTIM 3: measured, and simulated after calibration.",
    )
