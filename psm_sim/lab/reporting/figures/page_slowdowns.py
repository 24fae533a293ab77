"""Scatter plots: slowdown of each page (thesis, figure 2-8), and policies against hindsight's frontier."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from psm_sim.reporting.figures.policy_names import name_of, style_index
from psm_sim.reporting.figures.style import COLOURS, MARKERS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_pages(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``policy, always_on_time_s, slowdown``, one panel per policy, the mean as a line."""
    policies = list(dict.fromkeys(frame["policy"]))
    columns = min(3, len(policies))
    rows = ceil(len(policies) / columns)
    figure, panels = new_figure(rows, columns, width_in=2.4 * columns, height_in=2.3 * rows)
    for axes, policy in zip(panels, policies, strict=False):
        _page_panel(axes, frame[frame["policy"] == policy], policy)
        axes.set_ylim(*_limits(frame["slowdown"]))
    for axes in panels[len(policies) :]:
        axes.set_visible(False)
    figure.supxlabel("page time without power saving (s)", fontsize=9)
    figure.supylabel("slowdown", fontsize=9)
    return figure, "Slowdown of each page against its time without power saving; the line is the mean."


def _limits(values: pd.Series[float]) -> tuple[float, float]:
    margin = 0.05 * (values.max() - values.min())
    return float(values.min() - margin), float(values.max() + margin)


def _page_panel(axes: Axes, shown: pd.DataFrame, policy: str) -> None:
    mean = shown["slowdown"].mean()
    axes.scatter(shown["always_on_time_s"], shown["slowdown"], s=5, color=COLOURS[0], alpha=0.5, linewidths=0)
    axes.axhline(mean, color="black", linewidth=1)
    axes.set_title(f"{name_of(policy)}: {mean:.2f}", fontsize=9)
    axes.set_xscale("log")
    low, high = shown["always_on_time_s"].min(), shown["always_on_time_s"].max()
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if 0.8 * low <= tick <= 1.2 * high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def draw_frontier(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``kind, label, delay_s, energy_j``: the chain's frontier, policies, and the floor.

    A policy is a full marker on the chain (kind ``policy``) and a hollow one where it was ``simulated``.
    """
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.6)
    lines = {kind: frame[frame["kind"] == kind].sort_values("delay_s") for kind in ("frontier", "floor")}
    hull, floor = lines["frontier"], lines["floor"]
    axes.plot(hull["delay_s"], hull["energy_j"], color="black", linewidth=1.2, label="least on the chain")
    if len(floor):
        axes.plot(floor["delay_s"], floor["energy_j"], color="black", linewidth=1, linestyle=":",
                  label="floor in the simulator")  # fmt: skip
    shown = frame[frame["label"] != "always-on"]
    for kind, hollow in (("policy", False), ("simulated", True)):
        for policy, point in shown[shown["kind"] == kind].groupby("label", sort=False):
            _point(axes, point, str(policy), hollow)
    if len(floor):
        right_s = 2.5 * max(hull["delay_s"].max(), 0.1)
        axes.set_xlim(-0.03 * right_s, right_s)
    axes.set_xlabel("delay (s per page)")
    axes.set_ylabel("energy (J per page)")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    away = "; without power saving (no delay) lies far above" if "always-on" in set(frame["label"]) else ""
    return figure, _FRONTIER.format(away)


_FRONTIER = (
    "Energy against delay{}. Full markers and the line: policies and hindsight's best schedules on the chain,"
    " exact without delay, with delay a bound on the chain only. Hollow markers: the same policies in the"
    " simulator; dotted: the floor that none of them can go below there."
)


def _point(axes: Axes, point: pd.DataFrame, policy: str, hollow: bool) -> None:
    place = style_index(policy)
    axes.plot(
        point["delay_s"],
        point["energy_j"],
        linestyle="none",
        marker=MARKERS[place],
        markersize=7,
        color=COLOURS[place],
        markerfacecolor="none" if hollow else COLOURS[place],
        label=None if hollow else name_of(policy),
    )
