"""Device task: policies on one chip and traffic, mean power and delay beyond that of a radio always on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.campaign.scenario_task import ScenarioTask
from psm_sim.campaign.task_runner import Row
from psm_sim.simulation.compare_policies import compare_runs
from psm_sim.simulation.result import Result

_WAYS = ("round_trip_down", "down", "round_trip_up", "up")
"""Ways of messages, the one that power saving delays most first."""


@dataclass(frozen=True)
class DeviceTask(ScenarioTask):
    """Policies in one scenario: one row for each, with mean power and delay."""

    kind: ClassVar[str] = "device"

    def run(self) -> list[Row]:
        """Run the policies over the same traffic; return one row per policy."""
        found = compare_runs(self.policies, self.scenario)
        least_s = delay_s(found.always_on)
        return [
            {
                "policy": run.policy,
                "mw": 1000 * run.usage.total_j / run.simulated_s,
                "delay_ms": 1000 * (delay_s(run) - least_s),
            }
            for run in found.runs
        ]


def delay_s(run: Result) -> float:
    """Return the mean latency of a run's messages, the way delayed most; else its mean page time."""
    for way in _WAYS:
        if way in run.latency and run.latency[way].delivered:
            return run.latency[way].latency_s.mean
    return run.page_time_s.mean
