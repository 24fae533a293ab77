"""Figure of the polling times over a run, for policies that vary them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psm_sim.reporting.figures.run.policy_styles import representative_run, truncate_name
from psm_sim.reporting.figures.style import COLOURS, common_style, new_figure
from psm_sim.simulation.timeline import PollingRecorder, observe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psm_sim.simulation import Comparison

MAX_RUNS, MAX_PAGES = 4, 500
"""Maximum number of policies, and number of first pages, in the figure."""


def draw(comparison: Comparison) -> Figure | None:
    """Plot one panel per policy for the first seed or client. Return None if no polling time varies."""
    varying = []
    for run in comparison.runs:
        polling = PollingRecorder()
        observe(representative_run(run), [polling], MAX_PAGES)
        if len(set(polling.beacons_of)) > 1:
            varying.append((run.policy, polling))
    if not varying:
        return None
    return _panels(varying[:MAX_RUNS], 1000 * comparison.resolved_topology.beacon.interval_ms / 1000)


def _panels(pollings: list[tuple[str, PollingRecorder]], beacon_ms: float) -> Figure:
    figure, panels = new_figure(len(pollings), 1, width_in=6.8, height_in=0.9 + 1.6 * len(pollings))
    with common_style():
        for axes, (policy, polling) in zip(panels, pollings, strict=True):
            times_ms = [beacon_ms * beacons for beacons in polling.beacons_of]
            axes.step(polling.times_s, times_ms, where="post", color=COLOURS[0], linewidth=0.7)
            axes.set_title(truncate_name(policy), loc="left")
            axes.set_ylabel("polling time (ms)")
            axes.set_ylim(bottom=0)
            axes.margins(x=0.01)
            axes.sharex(panels[0])
        panels[-1].set_xlabel("time (s)")
    return figure
