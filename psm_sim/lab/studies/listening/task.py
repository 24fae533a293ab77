"""Tasks of the study: policies on one trace and seed, and random listening to as many beacons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from psm_sim.campaign.scenario_task import ScenarioTask
from psm_sim.campaign.task_runner import Row
from psm_sim.hashing import digest_of
from psm_sim.simulation.compare_policies import compare_runs
from psm_sim.simulation.result import Result
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.scenario_key import DigestCache

_TRIED = (0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0)
"""Probabilities of random listening between which its number of listens is interpolated."""


@dataclass(frozen=True)
class ListeningTask(ScenarioTask):
    """Policies in one scenario: one row for each, with beacons heard, delays of pushes, and its report.

    ``page_weight`` is what one page costs, in pages of ucb: one of push traffic ends an hour.
    """

    kind: ClassVar[str] = "listening"

    page_weight: int = 1

    @property
    def weight(self) -> int:
        """The pages of all runs, in pages of ucb."""
        return super().weight * self.page_weight

    def run(self) -> list[Row]:
        """Run the policies over the same pages; return one row per policy."""
        return [_row(run, self.scenario) for run in compare_runs(self.policies, self.scenario).runs]


@dataclass(frozen=True)
class MatchedTask:
    """Random listening at as many beacons heard as each of some learners, one row per learner and seed.

    The probability is found on the scenario of an extra seed, ``tuning``, and then used on all others.
    """

    kind: ClassVar[str] = "matched"

    tuning: Scenario
    scenarios: tuple[Scenario, ...]
    learners: tuple[str, ...]
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """The pages of all runs, roughly."""
        tuned = len(_TRIED) + len(self.learners)
        return self.tuning.pages * (tuned + len(self.learners) * len(self.scenarios))

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that decides the rows."""
        keys = [scenario.key(self.learners, cache) for scenario in (self.tuning, *self.scenarios)]
        return digest_of([self.kind, *keys])

    def run(self) -> list[Row]:
        """Find the probabilities, and run them."""
        chances = self._chances()
        policies = [f"listen:learner=random,b={chance:.6g}" for chance in chances]
        return [
            {**_row(run, scenario), "matches": learner, "b": chance}
            for scenario in self.scenarios
            for run, learner, chance in zip(
                compare_runs(policies, scenario).runs, self.learners, chances, strict=True
            )
        ]

    def _chances(self) -> Sequence[float]:
        tried = [f"listen:learner=random,b={chance:g}" for chance in _TRIED]
        runs = compare_runs([*tried, *self.learners], self.tuning).runs
        heard = [run.beacons_per_page for run in runs]
        grid, wanted = heard[: len(tried)], heard[len(tried) :]
        order = np.argsort(grid)
        found = np.interp(wanted, np.array(grid)[order], np.log(_TRIED)[order])
        return [float(chance) for chance in np.exp(found)]


def _row(run: Result, scenario: Scenario) -> Row:
    asleep_w = scenario.resolve_topology().power.asleep_w
    above_j = run.usage.total_j - asleep_w * run.simulated_s
    delay_s = run.pushes.delay_s if run.pushes else None
    report = run.policy_report
    return {
        "seed": scenario.seed,
        "policy": run.policy,
        "energy_j": run.energy_per_page_j,
        "slowdown": run.slowdown.mean,
        "slowdown_p95": run.slowdown.p95,
        "beacons": run.beacons_per_page,
        "above_j_per_h": 3600 * above_j / run.simulated_s,
        "delay_s": delay_s.mean if delay_s else 0.0,
        "delay_p95_s": delay_s.p95 if delay_s else 0.0,
        "unforced": 1 - report["forced"] / report["listens"] if "listens" in report else 0.0,
    }
