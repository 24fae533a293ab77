"""Scatter plots of page slowdowns (thesis, figure 2-8), of policies against the optimum, and of settings."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from psm_sim.reporting.figures.canvas import add_legend, new_figure
from psm_sim.reporting.style import BLUE, policy_style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_pages(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot the slowdown of each page, one panel per policy, with the mean as a line.

    Returns the figure and its caption. The columns of *frame* are ``policy, always_on_time_s, slowdown``.
    """
    policies = list(dict.fromkeys(frame["policy"]))
    columns = min(3, len(policies))
    rows = ceil(len(policies) / columns)
    figure, panels = new_figure(rows, columns, width_in=2.4 * columns, height_in=2.3 * rows)
    for axes, policy in zip(panels, policies, strict=False):
        _plot_pages(axes, frame[frame["policy"] == policy], policy)
        axes.set_ylim(*_limits(frame["slowdown"]))
    for axes in panels[len(policies) :]:
        axes.set_visible(False)
    figure.supxlabel("page time without power saving (s)", fontsize=9)
    figure.supylabel("slowdown", fontsize=9)
    return figure, "Slowdown of each page against its page time without power saving. The line is the mean."


def _limits(values: pd.Series[float]) -> tuple[float, float]:
    margin = 0.05 * (values.max() - values.min())
    return float(values.min() - margin), float(values.max() + margin)


def _plot_pages(axes: Axes, pages: pd.DataFrame, policy: str) -> None:
    """Plot the pages under one policy.

    Parameters
    ----------
    axes : Axes
        Panel to plot to.
    pages : DataFrame
        Pages under the policy.
    policy : str
        Policy spec, for the title.
    """
    mean = pages["slowdown"].mean()
    axes.scatter(
        pages["always_on_time_s"],
        pages["slowdown"],
        s=5,
        color=policy_style(policy).colour,
        alpha=0.5,
        linewidths=0,
    )
    axes.axhline(mean, color="black", linewidth=1)
    axes.set_title(f"{policy}: {mean:.2f}", fontsize=9)
    axes.set_xscale("log")
    low, high = pages["always_on_time_s"].min(), pages["always_on_time_s"].max()
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if 0.8 * low <= tick <= 1.2 * high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def draw_frontier(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Plot energy against delay of the offline optimum, the policies, and the lower bound.

    Returns the figure and its caption. The columns of *frame* are ``kind, label, delay_s, energy_j``. Filled
    markers are policies in the event-chain model (kind ``policy``). Hollow markers are the same policies in
    the simulator (kind ``simulated``). The kind ``floor`` is the lower bound in the simulator.
    """
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.6)
    lines = {kind: frame[frame["kind"] == kind].sort_values("delay_s") for kind in ("frontier", "floor")}
    hull, bound = lines["frontier"], lines["floor"]
    axes.plot(
        hull["delay_s"], hull["energy_j"], color="black", linewidth=1.2, label="offline optimum (event chain)"
    )
    if len(bound):
        axes.plot(bound["delay_s"], bound["energy_j"], color="black", linewidth=1, linestyle=":",
                  label="lower bound in the simulator")  # fmt: skip
    shown = frame[frame["label"] != "always-on"]
    for kind, hollow in (("policy", False), ("simulated", True)):
        for policy, point in shown[shown["kind"] == kind].groupby("label", sort=False):
            _plot_point(axes, point, str(policy), hollow)
    if len(bound):
        right_s = 2.5 * max(hull["delay_s"].max(), 0.1)
        axes.set_xlim(-0.03 * right_s, right_s)
    axes.set_xlabel("delay (s per page)")
    axes.set_ylabel("energy (J per page)")
    add_legend(figure, axes)
    note = "; without power saving (no delay) lies far above" if "always-on" in set(frame["label"]) else ""
    return figure, _FRONTIER_CAPTION.format(note)


_FRONTIER_CAPTION = (
    "Energy against delay{}. Filled markers and solid line: policies and offline optimum in the event-chain"
    " model, which is exact without delay. With delay, the line is a bound in that model only."
    " Hollow markers: the same policies in the simulator. Dotted line: lower bound of every policy there."
)


def _plot_point(axes: Axes, point: pd.DataFrame, policy: str, hollow: bool) -> None:
    """Plot a policy.

    Parameters
    ----------
    axes : Axes
        Axes to plot to.
    point : DataFrame
        Row of the policy.
    policy : str
        Policy spec.
    hollow : bool
        Whether the marker is hollow. Hollow markers have no legend entry.
    """
    style = policy_style(policy)
    axes.plot(
        point["delay_s"],
        point["energy_j"],
        linestyle="none",
        marker=style.marker,
        markersize=7,
        color=style.colour,
        markerfacecolor="none" if hollow else style.colour,
        label=None if hollow else policy,
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
