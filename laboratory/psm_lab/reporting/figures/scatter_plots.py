"""Scatter plots of page slowdowns (thesis, figure 2-8), of policies against the optimum, and of settings."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import BLUE, policy_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def draw_pages(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the slowdown of each page, one panel per policy, with the mean as a line.

    Returns the figure and its caption. The columns of *frame* are ``policy, always_on_time_s, slowdown``.
    """
    groups = list(frame.groupby("policy", sort=False))
    columns = min(3, len(groups))
    rows = ceil(len(groups) / columns)
    figure, panels = new_figure(rows, columns, width_in=2.4 * columns, height_in=2.3 * rows)
    lowest, highest = frame["slowdown"].min(), frame["slowdown"].max()
    margin = 0.05 * (highest - lowest)
    for axes, (policy, pages) in zip(panels, groups, strict=False):
        times_s, slowdowns = pages["always_on_time_s"], pages["slowdown"]
        colour = policy_style(str(policy)).colour
        axes.scatter(times_s, slowdowns, s=5, color=colour, alpha=0.5, linewidths=0)
        axes.axhline(slowdowns.mean(), color="black", linewidth=1)
        axes.set_title(f"{policy}: {slowdowns.mean():.2f}", fontsize=9)
        axes.set_xscale("log")
        shown = [tick for tick in _TICKS_S if 0.8 * times_s.min() <= tick <= 1.2 * times_s.max()]
        axes.set_xticks(shown, [f"{tick:g}" for tick in shown])
        axes.minorticks_off()
        axes.set_ylim(lowest - margin, highest + margin)
    for axes in panels[len(groups) :]:
        axes.set_visible(False)
    figure.supxlabel("page time without power saving (s)", fontsize=9)
    figure.supylabel("slowdown", fontsize=9)
    return figure, "Slowdown of each page against its page time without power saving. The line is the mean."


_TICKS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)  # for a logarithmic axis, each about twice the previous tick


def draw_frontier(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot energy against delay of the offline optimum, the policies, and the lower bound.

    Returns the figure and its caption. The columns of *frame* are ``kind, label, delay_s, energy_j``. Filled
    markers are policies in the event-chain model (kind ``policy``). Hollow markers are the same policies in
    the simulator (kind ``simulated``). The kind ``floor`` is the lower bound in the simulator.
    """
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.6)
    hull, bound = (frame[frame["kind"] == kind].sort_values("delay_s") for kind in ("frontier", "floor"))
    label = "offline optimum (event chain)"
    axes.plot(hull["delay_s"], hull["energy_j"], color="black", linewidth=1.2, label=label)
    label = "lower bound in the simulator"
    axes.plot(bound["delay_s"], bound["energy_j"], color="black", linewidth=1, linestyle=":", label=label)
    shown = frame[frame["label"] != "always-on"]
    for kind in ("policy", "simulated"):
        for policy, point in shown[shown["kind"] == kind].groupby("label", sort=False):
            colour, marker, _ = policy_style(str(policy))
            filled = kind == "policy"
            axes.plot(
                point["delay_s"],
                point["energy_j"],
                linestyle="none",
                marker=marker,
                markersize=7,
                color=colour,
                markerfacecolor=colour if filled else "none",
                label=policy if filled else None,
            )
    right_s = 2.5 * max(hull["delay_s"].max(), 0.1)
    axes.set(xlim=(-0.03 * right_s, right_s), xlabel="delay (s per page)", ylabel="energy (J per page)")
    add_legend(figure, axes)
    return figure, (
        "Energy against delay; without power saving (no delay) lies far above. Filled markers and solid"
        " line: policies and offline optimum in the event-chain model, which is exact without delay. With"
        " delay, the line is a bound in that model only. Hollow markers: the same policies in the simulator."
        " Dotted line: lower bound of every policy there."
    )


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
    axes.scatter(counts["lpsm"], counts["bsd"], s=_DOT_AREA * counts["settings"], color=BLUE, alpha=0.6)
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
