"""Hindsight's best schedule as a task, and every policy's distance to it on the same chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psm_sim.component_spec import Spec
from psm_sim.hashing import digest_of
from psm_sim.hindsight.chain_recorder import record_chain
from psm_sim.hindsight.event_chain import Chain, evaluate_policy
from psm_sim.hindsight.offline_optimum import (
    OfflineOptimum,
    least_energy_j,
    offline_frontier,
    offline_optimum,
)
from psm_sim.policies import make_policy
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.scenario_key import DigestCache


@dataclass(frozen=True)
class OptimumTask:
    """The pages of one scenario as a chain: the best schedules, and what each policy costs on it.

    One row for no delay, one for each bound p, one for each corner of the frontier (at most *prices* are
    tried; 0: no frontier), and one for each policy, with the least energy at that policy's own delay.
    Energies are in joules per page, delays in seconds per page.
    """

    kind: ClassVar[str] = "optimum"

    scenario: Scenario
    policies: tuple[str | Spec, ...] = ()
    bounds: tuple[float, ...] = ()
    prices: int = 32
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """The work in pages of a run, roughly."""
        return self.scenario.pages * (1 + len(self.policies) + self.prices)

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that decides the rows."""
        return digest_of([self.kind, self.scenario.key(self.policies, cache), self.bounds, self.prices])

    def run(self) -> list[dict[str, Any]]:
        """Return the rows."""
        chain = record_chain(self.scenario.workload().pages, self.scenario.resolve_topology())
        rows = [self._row("no delay", offline_optimum(chain))]
        rows += [self._row(f"p = {p:g}", offline_optimum(chain, 0.0, p)) for p in self.bounds]
        hull = offline_frontier(chain, self.prices) if self.prices else []
        rows += [self._row("frontier", corner) for corner in hull]
        return rows + [self._played(policy, chain, hull) for policy in self.policies]

    def _played(self, policy: str | Spec, chain: Chain, hull: list[OfflineOptimum]) -> dict[str, Any]:
        played = evaluate_policy(chain, make_policy(policy))
        return {
            **self._row("policy", OfflineOptimum(played.energy_j, played.delay_s)),
            "policy": str(policy),
            "worst_stretch": played.worst_stretch,
            "least_j": least_energy_j(hull, played.delay_s) / self.scenario.pages if hull else None,
        }

    def _row(self, allowed: str, best: OfflineOptimum) -> dict[str, Any]:
        return {
            "seed": self.scenario.seed,
            "allowed": allowed,
            "energy_j": best.energy_j / self.scenario.pages,
            "delay_s": best.delay_s / self.scenario.pages,
        }
