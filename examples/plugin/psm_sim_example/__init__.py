"""A policy, a loss, a learner and a trace that psm_sim finds by name once this package is installed."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.learning import FixedShare
from psm_sim.losses import Loss
from psm_sim.policies import Policy, Poll, Rest

COMMUTE = Path(__file__).with_name("commute.csv")


class EveryThird(Policy):
    """Receive every third beacon, or every n-th one.

    The constructor's arguments are the parameters: ``--policy every-third:beacons=4``.
    """

    name = "every-third"

    def __init__(self, beacons: int = 3) -> None:
        self.beacons = beacons

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze for the same number of beacons after every poll."""
        return Rest(beacons=self.beacons)


class Cubic(Loss):
    """Loss whose latency term grows with the cube of the polling time."""

    name = "cubic"

    def __init__(self, gamma: float = 1e-9) -> None:
        self.gamma = gamma

    def __call__(self, poll: Poll, times_ms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the loss of each candidate polling time, in nats."""
        return self.gamma * poll.buffered_bytes * times_ms**3 / poll.slept_ms + 1 / times_ms


class SlowShare(FixedShare):
    """Fixed-share for a best expert that changes once in a thousand rounds."""

    name = "slow-share"

    def __init__(self, n_experts: int) -> None:
        super().__init__(n_experts, alpha=0.001)
