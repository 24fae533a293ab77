"""Task that computes the offline optimum, and the distance of policies to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psm_sim.common.component_spec import Spec
from psm_sim.common.hashing import digest_of
from psm_sim.hindsight.offline_optimum import (
    OfflineOptimum,
    least_energy_j,
    offline_frontier,
    offline_optimum,
)
from psm_sim.hindsight.traffic_chain import Chain, evaluate_policy
from psm_sim.hindsight.traffic_chain_recorder import record_chain
from psm_sim.policies import make_policy
from psm_sim.simulation.scenario import DigestCache, Scenario


@dataclass(frozen=True)
class OptimumTask:
    """Offline optimum on the event chain of one scenario, and the energy of policies on that chain.

    There is one row without delay, one for each bound p, one for each corner of the frontier, and one for
    each policy, with the minimum energy at the delay of that policy. At most *prices* prices are tried for
    the frontier; 0 disables it. Energies are in joules per page, delays in seconds per page.
    """

    kind: ClassVar[str] = "optimum"

    scenario: Scenario
    policies: tuple[str | Spec, ...] = ()
    bounds: tuple[float, ...] = ()
    prices: int = 32
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Approximate amount of work, in pages of a run."""
        return self.scenario.pages * (1 + len(self.policies) + self.prices)

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of all inputs of the rows; see :meth:`Scenario.key` for *cache*."""
        return digest_of([self.kind, self.scenario.key(self.policies, cache), self.bounds, self.prices])

    def run(self) -> list[dict[str, Any]]:
        """Compute and return the rows."""
        chain = record_chain(self.scenario.workload().pages, self.scenario.resolve_topology())
        rows = [self._row("no delay", offline_optimum(chain))]
        rows += [self._row(f"p = {p:g}", offline_optimum(chain, 0.0, p)) for p in self.bounds]
        hull = offline_frontier(chain, self.prices) if self.prices else []
        rows += [self._row("frontier", corner) for corner in hull]
        return rows + [self._policy_row(policy, chain, hull) for policy in self.policies]

    def _policy_row(self, policy: str | Spec, chain: Chain, hull: list[OfflineOptimum]) -> dict[str, Any]:
        outcome = evaluate_policy(chain, make_policy(policy))
        return {
            **self._row("policy", OfflineOptimum(outcome.energy_j, outcome.delay_s)),
            "policy": str(policy),
            "worst_stretch": outcome.worst_stretch,
            "least_j": least_energy_j(hull, outcome.delay_s) / self.scenario.pages if hull else None,
        }

    def _row(self, allowed: str, optimum: OfflineOptimum) -> dict[str, Any]:
        return {
            "seed": self.scenario.seed,
            "allowed": allowed,
            "energy_j": optimum.energy_j / self.scenario.pages,
            "delay_s": optimum.delay_s / self.scenario.pages,
        }
