"""Hindsight's best schedule as a task, and every policy's distance to it on the same chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from psm_sim.hindsight.chain import play
from psm_sim.hindsight.optimum import Optimum, frontier, least_energy_j, optimum
from psm_sim.hindsight.record import record_chain
from psm_sim.network import load_topology
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload


@dataclass(frozen=True)
class OptimumTask:
    """The pages of one seed as a chain: the best schedules, and what each policy costs on it.

    A row for no delay, one for each bound p, one for each corner of the frontier (up to so many *prices*
    are tried; 0: no frontier), and one for each policy, with the least energy at that policy's own delay.
    Energies are in joules a page, delays in seconds a page.
    """

    trace: str
    pages: int
    seed: int
    topology: str = "three-node"
    settings: Mapping[str, Any] = field(default_factory=dict)
    policies: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()
    prices: int = 32
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """About as much work as so many pages of a run."""
        return self.pages * (1 + len(self.policies) + self.prices)

    def run(self) -> list[dict[str, Any]]:
        """Return the rows."""
        pages = load_workload(self.trace, self.pages, self.seed).pages
        chain = record_chain(pages, load_topology(self.topology, dict(self.settings)))
        rows = [self._row("no delay", optimum(chain))]
        rows += [self._row(f"p = {p:g}", optimum(chain, 0.0, p)) for p in self.bounds]
        hull = frontier(chain, self.prices) if self.prices else []
        rows += [self._row("frontier", corner) for corner in hull]
        for spec in self.policies:
            played = play(chain, make_policy(spec))
            rows.append(
                {
                    **self._row("policy", Optimum(played.energy_j, played.delay_s)),
                    "policy": spec,
                    "worst_stretch": played.worst_stretch,
                    "least_j": least_energy_j(hull, played.delay_s) / self.pages if hull else None,
                }
            )
        return rows

    def _row(self, allowed: str, best: Optimum) -> dict[str, Any]:
        return {
            **self.labels,
            "seed": self.seed,
            "allowed": allowed,
            "energy_j": best.energy_j / self.pages,
            "delay_s": best.delay_s / self.pages,
        }
