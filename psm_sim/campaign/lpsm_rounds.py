"""LPSM that records the rounds of its learner."""

from __future__ import annotations

from typing import NamedTuple

from psm_sim.common.array_types import FloatArray
from psm_sim.policies import Poll, Rest
from psm_sim.policies.lpsm import Lpsm


class LearnerRound(NamedTuple):
    """Learning round with its time, losses and the next prediction.

    ``losses`` are the losses of the experts, shape (n,), and ``mixture`` is the loss of their mixture.
    """

    time_s: float
    losses: FloatArray
    mixture: float
    polling_ms: float


class LoggedLpsm(Lpsm):
    """LPSM that records each learned round. It decides at each poll."""

    def start(self, beacon_s: float) -> None:
        """Start without rounds; *beacon_s* as for :class:`~psm_sim.policies.Policy`."""
        super().start(beacon_s)
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
