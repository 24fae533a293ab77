"""Timeout of a driver, learned with the share algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.input_limits import MAX_WEIGHT
from psm_sim.common.parameters import parameter
from psm_sim.learning import FixedShare
from psm_sim.policies.base import Frame, Rest
from psm_sim.policies.helpers.last_frame_policy import LastFramePolicy
from psm_sim.poll import Poll


@dataclass
class ShareTimeout(LastFramePolicy):
    """Policy that learns how long to stay awake after each frame (share algorithm).

    The policy follows Helmbold, Long, Sconyers and Sherrod (MONET 5, 2000), who spin down disks. The experts
    are timeouts, and the policy uses their weighted mean. After each gap between frames, the loss of an
    expert is the time for which it would have stayed awake. The cost of a doze is added if the timeout had
    ended before a frame arrived for the station. This cost, which replaces the energy to spin up a disk, is
    ``price`` times the mean wait for a DTIM beacon. It is also the longest timeout.

    A driver does not know when a buffered frame arrived. The policy assumes that it arrived half a DTIM
    interval before the beacon. Fixed-share replaces the variable share of the original.
    """

    name: ClassVar[str] = "share-timeout"

    price: float = parameter(
        1.0, "price of a second of delay, in seconds awake instead of asleep", above=0, at_most=MAX_WEIGHT
    )
    experts: int = parameter(25, "number of timeouts", at_least=2, at_most=10_000, expert=True)
    share: float = parameter(0.08, "switching rate of Fixed-share", at_least=0, at_most=1, expert=True)
    rate: float = parameter(
        4.0, "learning rate: nats per loss of the longest timeout", above=0, at_most=100, expert=True
    )

    def start(self, beacon_s: float) -> None:
        """Start with equal weights."""
        super().start(beacon_s)
        self._delay_s = self.dtim.period * self.beacon_s / 2
        self._doze_cost_s = self.price * self._delay_s
        self._timeouts_s: FloatArray = np.linspace(0.0, self._doze_cost_s, self.experts)
        self._learner = FixedShare(self.experts, self.share)
        # No doze is planned in the gaps between the frames of a burst.
        self._doze_s = inf
        self._rested = False

    def sent(self, now_s: float, frame: Frame) -> None:
        """Learn from the gap that ends with a frame sent. Such a frame never waits."""
        self._learn(now_s - self.last_s, 0.0)
        super().sent(now_s, frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Learn from the gap that ends with a frame received."""
        arrived_s = max(self._doze_s, now_s - self._delay_s) if now_s > self._doze_s else now_s
        self._learn(arrived_s - self.last_s, self._doze_cost_s)
        super().received(now_s, frame)

    def _learn(self, gap_s: float, doze_cost_s: float) -> None:
        if self._rested:
            lost_s = np.where(gap_s <= self._timeouts_s, gap_s, self._timeouts_s + doze_cost_s)
            self._learner.update(self.rate * (lost_s - lost_s.min()) / self._doze_cost_s)
        self._rested, self._doze_s = False, inf

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Wait for the learned timeout, then doze."""
        wait_s = self.after(now_s, poll, self._learner.predict(self._timeouts_s))
        if not self._rested:
            self._rested, self._doze_s = True, now_s + wait_s
        return self.aligned(now_s, wait_s, self.dtim.period)
