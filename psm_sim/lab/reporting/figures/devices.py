"""Figures of the study of devices: power against delay, and DTIM against TWT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.style import COLOURS, LINES, MARKERS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def draw_trade_off(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``traffic, policy, mw, delay_ms``, one panel per traffic."""
    titles = list(dict.fromkeys(frame["traffic"]))
    figure, panels = new_figure(2, 2, 8.4, 6.4)
    for axes, title in zip(panels, titles, strict=False):
        shown = frame[frame["traffic"] == title]
        for place, (policy, mw, delay_ms) in enumerate(
            zip(shown["policy"], shown["mw"], shown["delay_ms"], strict=True)
        ):
            look = {"color": COLOURS[place % len(COLOURS)], "label": policy, "markersize": 5}
            axes.plot(max(delay_ms, 0.1), mw, MARKERS[(place // 4) % len(MARKERS)], **look)
        axes.set(xscale="log", yscale="log")
        axes.set_title(title, fontsize=9)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, fontsize=7, frameon=False)
    figure.supxlabel("mean delay (ms; 0.1 or less at the left edge)", fontsize=9)
    figure.supylabel("mean power (mW)", fontsize=9)
    return figure, "Mean power of an ESP32-C6 against mean delay, one mark per policy."


def draw_crossover(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``chip, family, wait_s, mw``, one curve per chip and family."""
    figure, (axes,) = new_figure(1, 1, 5.6, 3.8)
    for place, ((chip, family), shown) in enumerate(frame.groupby(["chip", "family"], sort=True)):
        name = f"{chip}, {'DTIM' if family == 'psm' else 'TWT'}"
        axes.plot(
            shown["wait_s"],
            shown["mw"],
            label=name,
            color=COLOURS[place],
            marker=MARKERS[place],
            linestyle=LINES[place],
            markersize=4,
        )
    axes.set(xscale="log", yscale="log", xlabel="mean wait (s)", ylabel="mean power (mW)")
    axes.legend(fontsize=8, frameon=False)
    return figure, "Mean power of an idle station against the mean wait of a frame, DTIM periods and TWT."
