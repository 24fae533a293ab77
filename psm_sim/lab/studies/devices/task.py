"""Task that measures the mean power and delay of policies on one chip and kind of traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.campaign.scenario_task import ScenarioTask
from psm_sim.campaign.task_runner import Row
from psm_sim.simulation.policy_comparison import compare_runs
from psm_sim.simulation.result import Result

_DIRECTIONS = ("round_trip_down", "down", "round_trip_up", "up")
"""Directions of messages, in descending order of the delay that power saving causes."""


@dataclass(frozen=True)
class DeviceTask(ScenarioTask):
    """Task that runs policies in one scenario, with one row of mean power and delay per policy."""

    kind: ClassVar[str] = "device"

    def run(self) -> list[Row]:
        """Run the policies over the same traffic and return one row per policy."""
        comparison = compare_runs(self.policies, self.scenario)
        always_on_s = delay_s(comparison.always_on)
        return [
            {
                "policy": run.policy,
                "mw": 1000 * run.usage.total_j / run.simulated_s,
                "delay_ms": 1000 * (delay_s(run) - always_on_s),
            }
            for run in comparison.runs
        ]


def delay_s(run: Result) -> float:
    """Return the mean latency of the messages of *run*, or its mean page time if it has no messages.

    If there are messages in several directions, the latency is that of the most delayed direction.
    """
    for direction in _DIRECTIONS:
        if direction in run.latency and run.latency[direction].delivered:
            return run.latency[direction].latency_s.mean
    return run.page_time_s.mean
