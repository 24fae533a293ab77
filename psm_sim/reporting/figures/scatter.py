"""Scatter plots: slowdown of each page (thesis, figure 2-8), and policies against hindsight's frontier."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from psm_sim.reporting.figures.policy_names import name_of, place_of
from psm_sim.reporting.figures.style import COLOURS, MARKERS, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def pages(frame: pd.DataFrame) -> tuple[Figure, str]:
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


def frontier(frame: pd.DataFrame) -> tuple[Figure, str]:
    """Draw ``kind, label, delay_s, energy_j``: hindsight's frontier, and the policies as marked points."""
    figure, (axes,) = new_figure(width_in=6.4, height_in=4.2)
    best = frame[frame["kind"] == "frontier"].sort_values("delay_s")
    axes.plot(best["delay_s"], best["energy_j"], color="black", linewidth=1.2, label="hindsight's frontier")
    policies = frame[(frame["kind"] == "policy") & (frame["label"] != "always-on")]
    for policy, point in policies.groupby("label", sort=False):
        place = place_of(str(policy))
        axes.plot(
            point["delay_s"],
            point["energy_j"],
            linestyle="none",
            marker=MARKERS[place],
            markersize=7,
            color=COLOURS[place],
            label=name_of(str(policy)),
        )
    axes.set_xlabel("delay (s a page)")
    axes.set_ylabel("energy (J per page)")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    told = "; without power saving (no delay) lies far above" if "always-on" in set(frame["label"]) else ""
    return (
        figure,
        f"Energy against delay: hindsight's best schedules, and the policies on the same pages{told}.",
    )
