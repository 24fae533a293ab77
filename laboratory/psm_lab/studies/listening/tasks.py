"""Traces and policies of the study, fixed before its seeds were run, and the tasks that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psm_lab.studies.study import Scale
from psm_lab.studies.tasks import Row, ScenarioTask
from psm_sim.common.hashing import digest_of
from psm_sim.simulation.policy_comparison import compare_runs
from psm_sim.simulation.result import Result
from psm_sim.simulation.scenario import DigestCache, Scenario


class TraceCase(NamedTuple):
    """Trace of the study with its title and the pages of a full and a quick run.

    If ``pages`` or ``quick_pages`` is None, the scale determines the number of pages.
    """

    trace: str
    title: str
    pages: int | None
    quick_pages: int | None

    def pages_at(self, scale: Scale) -> int:
        """Return the number of pages of a run at a scale."""
        fixed = self.pages if scale.pages >= 100 else self.quick_pages
        return scale.pages if fixed is None else fixed


PAGE_TRACES = (
    TraceCase("ucb", "ucb", None, None),
    TraceCase("ucb:server_delay_ms=650", "ucb, server delay 650 ms", None, None),
    TraceCase("ucb:server_delay_ms=none", "ucb, no server delay", None, None),
    TraceCase("shifting", "shifting", 314, 120),
    TraceCase("modern", "modern", 30, 8),
)
"""Traces of pages; 314 pages are one round of the regimes of ``shifting``."""

PUSH_TRACES = tuple(
    TraceCase(f"pushes:kind={kind}", f"pushes, {kind}", 2, 1)
    for kind in ("poisson", "bursts", "clock", "shift")
)
"""Push traffic, with one page view at the end of each hour."""

PRICES = (0.1, 0.3, 0.5, 1.0, 2.0, 5.0)
IDLE_PRICES = (0.05, 0.1, 0.2, 0.5, 1.0, 3.0)
INTERVALS = (1, 2, 3, 6, 9, 12)

LEARNERS = (
    "listen:learner=cbgz,b=0.03",
    "listen:learner=cbgz,b=0.3",
    "listen:learner=cbgz,b=0.03,weight=10",
    "listen:learner=cbgz2,b=0.003",
    "listen:learner=cbgz2,b=0.03",
    "listen:learner=lasec,b=0.003",
    "listen:learner=lasec,b=0.03",
    "listen:learner=cbgz2,b=0.003,context=false",
    "listen:learner=dkm,R=32",
)
"""Active learners of the ``listen`` policy."""

RULE, LPSM, PSM, BSD = "outstanding", "lpsm", "psm", "bsd:p=1"

PAGE_POLICIES = (
    PSM, "psm:listen_interval=2", "psm:listen_interval=3",
    "bsd:p=2", BSD, "bsd:p=0.5",
    LPSM, "lpsm:gamma=8e-7", "lpsm:gamma=5e-6", "lpsm:loss=inverse", "lpsm:context=outstanding",
    RULE, "outstanding:wait_ms=50", "outstanding:wait_ms=100",
    "listen:learner=random,b=0.1", "listen:learner=random,b=0.3", *LEARNERS,
    *(f"anticipate:price={price:g}" for price in PRICES),
)  # fmt: skip
"""Policies that load pages, including the controls."""

PUSH_POLICIES = (
    *(f"psm:listen_interval={interval}" for interval in INTERVALS),
    BSD, "lpsm:gamma=2e-6", "lpsm:gamma=5e-6", LPSM, RULE,
    "listen:learner=random,b=0.1", "listen:learner=random,b=0.3", *LEARNERS,
    *(f"anticipate:idle_price={price:g}" for price in IDLE_PRICES),
)  # fmt: skip
"""Policies that receive pushes."""


def family_of(policy: str) -> str:
    """Return the family of a policy, which is one curve of the figure."""
    name, _, parameters = policy.partition(":")
    if name == "listen":
        return parameters.partition("learner=")[2].partition(",")[0]
    return name


_TRIED = (0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1.0)
"""Probabilities of random listening between which its number of received beacons is interpolated."""


@dataclass(frozen=True)
class ListeningTask(ScenarioTask):
    """Task that runs policies in one scenario, with one row per policy.

    A row has the energy, the slowdown, the received beacons and the delays of pushes. ``page_weight`` is the
    run time of a page relative to a page of ``ucb``; a page of push traffic lasts an hour.
    """

    kind: ClassVar[str] = "listening"

    page_weight: int = 1

    @property
    def weight(self) -> int:
        """Run time of all runs, in pages of ``ucb``."""
        return super().weight * self.page_weight

    def run(self) -> list[Row]:
        """Run the policies over the same pages and return one row per policy."""
        return [_row(run, self.scenario) for run in compare_runs(self.policies, self.scenario).runs]


@dataclass(frozen=True)
class MatchedTask:
    """Task that runs random listening with as many received beacons as each learner has.

    It has one row per learner and seed. The probability is matched on the scenario of an extra seed,
    ``tuning``, and then used for all other seeds.
    """

    kind: ClassVar[str] = "matched"

    tuning: Scenario
    scenarios: tuple[Scenario, ...]
    learners: tuple[str, ...]
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Approximate number of pages of all runs."""
        tuning_runs = len(_TRIED) + len(self.learners)
        return self.tuning.pages * (tuning_runs + len(self.learners) * len(self.scenarios))

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that determines the rows."""
        keys = [scenario.key(self.learners, cache) for scenario in (self.tuning, *self.scenarios)]
        return digest_of([self.kind, *keys])

    def run(self) -> list[Row]:
        """Match the probabilities, run random listening with them, and return the rows."""
        probabilities = self._match_probabilities()
        policies = [f"listen:learner=random,b={probability:.6g}" for probability in probabilities]
        return [
            {**_row(run, scenario), "matches": learner, "b": probability}
            for scenario in self.scenarios
            for run, learner, probability in zip(
                compare_runs(policies, scenario).runs, self.learners, probabilities, strict=True
            )
        ]

    def _match_probabilities(self) -> Sequence[float]:
        candidates = [f"listen:learner=random,b={probability:g}" for probability in _TRIED]
        runs = compare_runs([*candidates, *self.learners], self.tuning).runs
        beacons = [run.beacons_per_page for run in runs]
        grid, targets = beacons[: len(candidates)], beacons[len(candidates) :]
        order = np.argsort(grid)
        logs = np.interp(targets, np.array(grid)[order], np.log(_TRIED)[order])
        return [float(probability) for probability in np.exp(logs)]


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
