"""Comparison: several runs over the same pages, and what they are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psm_sim.network import Topology, differences
from psm_sim.simulation.result import Result
from psm_sim.simulation.scenario import Scenario
from psm_sim.workload import Workload


@dataclass(frozen=True)
class Comparison:
    """Several runs over the same pages, in the order the policies were given.

    ``place`` is the topology with the value of every key, ``workload`` the pages, ``always_on`` the run
    without power saving that every slowdown is measured against. ``baselines`` stand above them though
    nobody asked for them, and ``reference`` is what energy and slowdown are compared with, if anything.
    """

    scenario: Scenario
    place: Topology
    workload: Workload
    runs: tuple[Result, ...]
    always_on: Result
    baselines: tuple[Result, ...] = ()
    reference: Result | None = None

    @property
    def shown(self) -> tuple[Result, ...]:
        """The baselines, and the runs that are none of them."""
        return (
            *self.baselines,
            *(run for run in self.runs if not any(run is each for each in self.baselines)),
        )

    @property
    def trace(self) -> str:
        """The trace as the user wrote it."""
        return self.scenario.trace_name

    @property
    def topology(self) -> str:
        """The topology as the user wrote it."""
        return self.scenario.topology_name

    @property
    def topology_differs(self) -> dict[str, Any]:
        """The keys in which the topology, before any settings, differs from the bundled one it came from."""
        return {key: value for key, value in differences(self.place).items() if key not in self.settings}

    @property
    def pages(self) -> int:
        """The number of pages that each policy loaded."""
        return len(self.workload.pages)

    @property
    def seed(self) -> int:
        """The seed of everything drawn."""
        return self.scenario.seed

    @property
    def settings(self) -> dict[str, Any]:
        """The topology keys that were overridden, as they were given."""
        return dict(self.scenario.settings)
