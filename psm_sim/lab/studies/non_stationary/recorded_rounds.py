"""Rounds of a learner in a run, kept as they are learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.learning import FixedShare
from psm_sim.network import load_topology
from psm_sim.policies import Poll, Rest
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import prepare
from psm_sim.workload import Workload


class LearnerRound(NamedTuple):
    """Round of learning: its time, the experts' losses (n,), the mixture's, and the time predicted next."""

    time_s: float
    losses: FloatArray
    mixture: float
    polling_ms: float


class Unshared(FixedShare):
    """Fixed-share at a rate of 0, where nothing is shared: equal to the last bit, in a third of the time."""

    def __init__(self, n_experts: int) -> None:
        super().__init__(n_experts, 0.0)
        self._log_weights: FloatArray = np.full(n_experts, -math.log(n_experts))

    def _learn(self, relative: FloatArray) -> float:
        self._log_weights += relative
        evidence = np.logaddexp.reduce(self._log_weights)
        self._log_weights -= evidence
        np.exp(self._log_weights, self._weights)
        return -float(evidence)


class LoggedLpsm(Lpsm):
    """LPSM that keeps each round it learns, and so is asked at each poll; its loss must not adapt."""

    def start(self, beacon_s: float) -> None:
        """Begin without a round."""
        super().start(beacon_s)
        if self.alpha == 0:
            self.learner = Unshared(self.times_ms.size)
        self.rounds: list[LearnerRound] = []

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze as LPSM does, and keep the round, if there was a poll to learn from."""
        self._now_s = now_s
        return super().rest(now_s, since_uplink_s, poll)

    def _learn(self, poll: Poll) -> None:
        losses = self.losses(poll)
        mixture = self.learner.update(losses)
        self._predict()
        self.rounds.append(LearnerRound(self._now_s, losses, mixture, self.polling_ms))


def logged_run(
    workload: Workload, gamma: float | None, alpha: float | None, times_s: Sequence[float] | None = None
) -> tuple[Result, list[LearnerRound]]:
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
    run = prepare(LoggedLpsm(gamma=gamma, alpha=alpha), load_topology()).execute(workload.pages, times_s)
    return run, cast(LoggedLpsm, run.policy_state).rounds
