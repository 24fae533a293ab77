"""Separate learners of LPSM for different request contexts."""

from __future__ import annotations

from psm_sim.learning import Learner
from psm_sim.policies.base import Frame
from psm_sim.policies.outstanding_requests import OutstandingRequests


class ContextLearners:
    """Learners of the same kind, one for each context of the station.

    None of the sources describes them. After an uplink packet that waits for a reply, LPSM dozes one beacon.
    After any other uplink packet it uses the prediction of the idle learner.

    Parameters
    ----------
    idle, waiting : Learner
        Learners without and with an outstanding request.
    """

    def __init__(self, idle: Learner, waiting: Learner) -> None:
        self.idle, self.waiting = idle, waiting
        self._flows = OutstandingRequests()

    def sent(self, frame: Frame) -> None:
        """Handle a *frame* sent."""
        self._flows.sent(frame)

    def received(self, frame: Frame) -> None:
        """Handle a *frame* received."""
        self._flows.received(frame)

    @property
    def is_waiting(self) -> bool:
        """Whether a request is outstanding."""
        return self._flows.waiting > 0

    @property
    def current(self) -> Learner:
        """Learner of the current context."""
        return self.waiting if self.is_waiting else self.idle
