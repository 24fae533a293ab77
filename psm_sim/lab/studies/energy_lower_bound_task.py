"""Task that compares the energy of every simulated policy with its lower bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from psm_sim.campaign.comparison_task import RunTask
from psm_sim.hindsight.energy_lower_bound import energy_lower_bound_j
from psm_sim.policies import Policy, Poll, Rest
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.policy_comparison import compare_runs
from psm_sim.simulation.result import Result


class LullPolicy(Policy):
    """Policy that receives every beacon shortly after an uplink packet, and then one per minute.

    It receives almost no beacon while the user thinks. It is tuned to the traffic of the study, which no
    station knows in advance, to show how little energy a policy can need in the simulator.
    """

    name = "lull"

    def __init__(self, until_s: float = 0.1, beacons: int = 600) -> None:
        self.until_s, self.beacons = until_s, beacons

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return a doze of one beacon, or of a minute; arguments as for :class:`~psm_sim.policies.Policy`."""
        return Rest(beacons=1 if since_uplink_s < self.until_s else self.beacons)


@dataclass(frozen=True)
class LowerBoundTask(RunTask):
    """Task that runs policies and :class:`LullPolicy` over the same pages, with one row per policy.

    ``energy_j`` and ``energy_lower_bound_j`` are in joules per page. The lower bound refers to the policy's
    own run. ``delay_s`` is the page time minus the page time without power saving, in seconds per page.
    """

    kind: ClassVar[str] = "floor"

    def run(self) -> list[dict[str, Any]]:
        """Run the policies and return the rows."""
        comparison = compare_runs((*self.policies, LullPolicy()), self.scenario)
        return [self._row(run, comparison) for run in comparison.runs]

    def _row(self, run: Result, comparison: Comparison) -> dict[str, Any]:
        pages, topology = comparison.workload.pages, comparison.resolved_topology
        return {
            "seed": self.scenario.seed,
            "policy": run.policy,
            "energy_j": run.energy_per_page_j,
            "energy_lower_bound_j": energy_lower_bound_j(pages, topology, run.simulated_s) / len(pages),
            "delay_s": run.page_time_s.mean - comparison.always_on.page_time_s.mean,
        }
