"""Scenario task: some policies over the pages of one scenario; what the rows hold is a subclass's matter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from psm_sim.campaign.task_runner import Row
from psm_sim.component_spec import Spec
from psm_sim.hashing import digest_of
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.scenario_key import DigestCache


@dataclass(frozen=True)
class ScenarioTask(ABC):
    """Policies in one scenario: everything that decides the numbers, and *labels* for the rows.

    ``policies`` are texts or specs; ``scenario.command(policies)`` is the command line that gives the
    same numbers. A subclass says its ``kind`` and makes the rows.
    """

    kind: ClassVar[str]

    policies: tuple[str | Spec, ...]
    scenario: Scenario
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """The pages of all runs, the always-on one included."""
        return self.scenario.pages * (1 + len(self.policies))

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of the scenario and the policies, the contents of the files they name included."""
        return digest_of([self.kind, self.scenario.key(self.policies, cache)])

    @abstractmethod
    def run(self) -> list[Row]:
        """Run the policies over the same pages; return one row per policy."""
