"""Recording of the rounds that a learner learns in a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.learning import FixedShare
from psm_sim.network import load_topology
from psm_sim.policies import Poll, Rest
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import prepare
from psm_sim.workload import Workload


class LearnerRound(NamedTuple):
    """Learning round with its time, losses and the next prediction.

    ``losses`` are the losses of the experts, shape (n,), and ``mixture`` is the loss of their mixture.
    """

    time_s: float
    losses: FloatArray
    mixture: float
    polling_ms: float


class ZeroRateFixedShare(FixedShare):
    """Fixed-share with a switching rate of 0, which shares no weight.

    The result is bit-for-bit identical to :class:`~psm_sim.learning.FixedShare` in a third of the time.
    """

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
    """LPSM that records each learned round. It decides at each poll, and its loss must not adapt."""

    def start(self, beacon_s: float) -> None:
        """Start without rounds; *beacon_s* as for :class:`~psm_sim.policies.Policy`."""
        super().start(beacon_s)
        if self.alpha == 0:
            self.learner = ZeroRateFixedShare(self.times_ms.size)
        self.rounds: list[LearnerRound] = []

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the decision of LPSM, and record the round if there is a poll to learn from.

        *now_s*, *since_uplink_s* and *poll* as for :class:`~psm_sim.policies.Policy`.
        """
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
    """Run a learner over the pages and return the result and the learned rounds.

    Parameters
    ----------
    workload : Workload
        Source of the pages.
    gamma : float or None
        Parameter of the loss; None uses the published value.
    alpha : float or None
        Switching rate; None uses Learn-alpha.
    times_s : sequence of float, optional
        Time of each page without power saving, in seconds. Without it no slowdown is measured.
    """
    run = prepare(LoggedLpsm(gamma=gamma, alpha=alpha), load_topology()).execute(workload.pages, times_s)
    return run, cast(LoggedLpsm, run.policy_state).rounds
