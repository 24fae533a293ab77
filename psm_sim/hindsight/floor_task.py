"""Floor as a task: every policy in the simulator, beside the energy that none can go below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psm_sim.hindsight.floor import floor_j
from psm_sim.keys import key_of
from psm_sim.simulation.compare import Comparison, compare_runs
from psm_sim.simulation.result import Result
from psm_sim.simulation.scenario import Scenario
from psm_sim.spec import Spec


@dataclass(frozen=True)
class FloorTask:
    """Policies over the same pages; one row per policy.

    ``energy_j`` and ``floor_j`` are in joules per page, ``delay_s`` is the page time beyond that without
    power saving in seconds per page; the floor is that of the policy's own run.
    """

    kind: ClassVar[str] = "floor"

    policies: tuple[str | Spec, ...]
    scenario: Scenario
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """The pages of all runs, the one without power saving included."""
        return self.scenario.pages * (1 + len(self.policies))

    def key(self) -> str:
        """Return a hash of everything that decides the rows."""
        return key_of([self.kind, self.scenario.key(self.policies)])

    def run(self) -> list[dict[str, Any]]:
        """Return the rows."""
        comparison = compare_runs(self.policies, self.scenario)
        return [self._row(run, comparison) for run in comparison.runs]

    def _row(self, run: Result, comparison: Comparison) -> dict[str, Any]:
        pages, place = comparison.workload.pages, comparison.place
        return {
            "seed": self.scenario.seed,
            "policy": run.policy,
            "energy_j": run.energy_per_page_j,
            "floor_j": floor_j(pages, place, run.simulated_s) / len(pages),
            "delay_s": run.page_time_s.mean - comparison.always_on.page_time_s.mean,
        }
