"""Task that records the polling time after each round of a learner on traffic with regimes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from psm_sim.common.hashing import digest_of
from psm_sim.lab.studies.non_stationary.recorded_rounds import logged_run
from psm_sim.lab.studies.non_stationary.task import learner_label
from psm_sim.simulation.scenario import DigestCache, Scenario
from psm_sim.workload.regimes import ShiftingWorkload


@dataclass(frozen=True)
class TimelineTask:
    """Task that runs a learner at the published gamma, with one row per round.

    Parameters
    ----------
    alpha : float or None
        Switching rate; None uses Learn-alpha.
    scenario : Scenario
        Pages of a trace with regimes.
    """

    kind: ClassVar[str] = "timeline"
    labels: ClassVar[Mapping[str, Any]] = {}

    alpha: float | None
    scenario: Scenario

    @property
    def weight(self) -> int:
        """Number of pages."""
        return self.scenario.pages

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that determines the rows."""
        return digest_of([self.kind, self.alpha, self.scenario.key(cache=cache)])

    def run(self) -> list[dict[str, Any]]:
        """Return one row per round with the learner, time in minutes, polling time in ms and regime."""
        workload = self.scenario.workload()
        run, rounds = logged_run(workload, None, self.alpha)
        ends_s = [page.start_s + page.page_time_s for page in run.page_records]
        pages = np.searchsorted(ends_s, [one.time_s for one in rounds])
        names = workload.regime_of_each_page() if isinstance(workload, ShiftingWorkload) else []
        return [
            {
                "learner": learner_label(self.alpha),
                "minutes": one.time_s / 60,
                "polling_ms": one.polling_ms,
                "regime": names[min(page, len(names) - 1)] if names else "all",
            }
            for one, page in zip(rounds, pages.tolist(), strict=True)
        ]
