"""Polling time over a run: how long each policy that varies it lets the radio doze, whenever it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.run.policy_styles import representative_run, truncate_name
from psm_sim.reporting.figures.style import COLOURS, common_style, new_figure
from psm_sim.simulation.timeline import Polling, observe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison

MAX_RUNS, MAX_PAGES = 4, 500
"""The most policies, and pages from the first on, that are drawn."""


def draw(comparison: Comparison) -> Figure | None:
    """Draw one panel per policy, of the first seed or client; None if no policy varies its polling time."""
    shown = []
    for run in comparison.runs:
        seen = Polling()
        observe(representative_run(run), [seen], MAX_PAGES)
        if len(set(seen.beacons_of)) > 1:
            shown.append((run.policy, seen))
    if not shown:
        return None
    return _panels(shown[:MAX_RUNS], 1000 * comparison.resolved_topology.beacon.interval_ms / 1000)


def _panels(shown: list[tuple[str, Polling]], beacon_ms: float) -> Figure:
    figure, panels = new_figure(len(shown), 1, width_in=6.8, height_in=0.9 + 1.6 * len(shown))
    with common_style():
        for axes, (policy, seen) in zip(panels, shown, strict=True):
            times_ms = [beacon_ms * beacons for beacons in seen.beacons_of]
            axes.step(seen.times_s, times_ms, where="post", color=COLOURS[0], linewidth=0.7)
            axes.set_title(truncate_name(policy), loc="left")
            axes.set_ylabel("polling time (ms)")
            axes.set_ylim(bottom=0)
            axes.margins(x=0.01)
            axes.sharex(panels[0])
        panels[-1].set_xlabel("time (s)")
    return figure
