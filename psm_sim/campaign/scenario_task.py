"""Abstract task that runs policies on the pages of one scenario."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psm_sim.campaign.parallel_tasks import Row
from psm_sim.common.component_spec import Spec
from psm_sim.common.hashing import digest_of
from psm_sim.simulation.scenario import DigestCache, Scenario


@dataclass(frozen=True)
class ScenarioTask(ABC):
    """Policies in one scenario. A subclass sets ``kind`` and creates the rows.

    ``scenario.command(policies)`` returns the command line that reproduces the numbers.

    Attributes
    ----------
    policies : tuple of str or Spec
        Policies to run.
    scenario : Scenario
        Pages, topology, seed and settings.
    labels : mapping
        Values that are added to each row.
    """

    kind: ClassVar[str]

    policies: tuple[str | Spec, ...]
    scenario: Scenario
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Number of pages of all runs, including the always-on run."""
        return self.scenario.pages * (1 + len(self.policies))

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of scenario, policies and their files; see :meth:`Scenario.key` for *cache*."""
        return digest_of([self.kind, self.scenario.key(self.policies, cache)])

    @abstractmethod
    def run(self) -> list[Row]:
        """Run the policies on the same pages and return one row per policy."""
