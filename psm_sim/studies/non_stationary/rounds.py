"""Rounds of a learner in a run, noted as it learns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from psm_sim.arrays import Floats
from psm_sim.network import load_topology
from psm_sim.policies import Poll, Rest
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import prepare
from psm_sim.workload import Workload


class Round(NamedTuple):
    """Round of learning: its time, the experts' losses (n,), the mixture's, and the time predicted next."""

    time_s: float
    losses: Floats
    mixture: float
    polling_ms: float


class NotedLpsm(Lpsm):
    """LPSM that notes its rounds; it is asked at each beacon, so that all are learnt one by one.

    It must not learn from dozes that an uplink packet cuts short: these have no time of their own.

    Parameters
    ----------
    parameters
        As for :class:`~psm_sim.policies.lpsm.Lpsm`.
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.rounds: list[Round] = []
        self._now_s = 0.0

    def start(self, beacon_s: float) -> None:
        """Begin with no rounds."""
        super().start(beacon_s)
        self.rounds = []

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Keep the time of the round."""
        self._now_s = now_s
        return super().rest(now_s, since_uplink_s, poll)

    def _learn(self, poll: Poll) -> None:
        losses = self.losses(poll)
        mixture = self.learner.update(losses)
        self._predict()
        self.rounds.append(Round(self._now_s, losses, mixture, self.learner.predict(self.times_ms)))


def logged_run(
    workload: Workload, gamma: float | None, alpha: float | None, times_s: Sequence[float] | None = None
) -> tuple[Result, list[Round]]:
    """Run a learner over the pages; return the result, and the rounds that it learned.

    Parameters
    ----------
    workload
        Where the pages are from.
    gamma
        Of the loss; ``None``: as published.
    alpha
        Its switching rate; ``None``: Learn-alpha.
    times_s
        Time of each page without power saving, in seconds; without them no slowdown is measured.
    """
    run = prepare(NotedLpsm(gamma=gamma, alpha=alpha), load_topology()).over(workload.pages, times_s)
    return run, cast(NotedLpsm, run.policy_state).rounds
