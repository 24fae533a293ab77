"""Memories of LPSM: one while a request of the station is outstanding, and one while none is."""

from __future__ import annotations

from psm_sim.learning import Learner
from psm_sim.policies.base import Frame
from psm_sim.policies.outstanding_requests import OutstandingRequests


class ContextLearners:
    """Memories by context: learners of the same kind, of which one is taken up at a time.

    None of the sources has them. LPSM dozes one beacon after an uplink packet that waits for a reply, and
    after any other what the idle memory predicts.

    Parameters
    ----------
    idle, waiting
        The learner while no request is outstanding, and while one is.
    """

    def __init__(self, idle: Learner, waiting: Learner) -> None:
        self.idle, self.waiting = idle, waiting
        self._flows = OutstandingRequests()

    def sent(self, frame: Frame) -> None:
        """Take note that a request is outstanding, or no more."""
        self._flows.sent(frame)

    def received(self, frame: Frame) -> None:
        """Take note of a reply."""
        self._flows.received(frame)

    @property
    def is_waiting(self) -> bool:
        """Whether a request is outstanding."""
        return self._flows.waiting > 0

    @property
    def present(self) -> Learner:
        """The learner of the present context."""
        return self.waiting if self.is_waiting else self.idle
