"""Bound on a reply: which dozes keep it within (1 + p) times its time without power saving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray
from psm_sim.beacons import TOLERANCE_S, Beacons
from psm_sim.policies.optimal_rest import DecisionGrid


@dataclass(frozen=True)
class ReplyBound:
    """Bound of Bounded Slowdown: a doze begun e seconds after an uplink packet is at most p e long.

    A frame can come as soon as the doze has begun and is then fetched at its end, so that a reply of e
    seconds takes at most (1 + p) e (Krashinsky and Balakrishnan, section 4).

    Attributes
    ----------
    p : float
        The bound on the slowdown of a reply, minus one; above 0.
    uplink_s : float
        When the last uplink packet was sent, in seconds.
    grid : Beacons
        The beacons.
    """

    p: float
    uplink_s: float
    grid: Beacons

    def first_s(self, now_s: float) -> float:
        """Return the first time from *now_s* on at which a doze to the next beacon is allowed, in seconds."""
        number = self.grid.after(now_s)
        while True:
            beacon_s = self.grid.time(number)
            legal_s = max(now_s, self._legal_s(beacon_s))
            if legal_s < beacon_s - TOLERANCE_S:
                return legal_s
            number += 1

    def legal_s(self, beacons_s: FloatArray) -> FloatArray:
        """Return for each beacon, shape (b,), the time from which a doze until it is allowed, in seconds."""
        return self.uplink_s + (beacons_s - self.uplink_s) / (1 + self.p)

    def allows(self, times: DecisionGrid, most: int) -> NDArray[np.bool_]:
        """Say which dozes from 1 to *most* beacons are allowed from some *times* on, shape (n, most)."""
        ends_s = times.beacons_s[times.ahead[:, None] + np.arange(most)]
        begun_s = times.times_s[:, None]
        return np.asarray(ends_s - begun_s <= self.p * (begun_s - self.uplink_s) + TOLERANCE_S)

    def _legal_s(self, beacon_s: float) -> float:
        return self.uplink_s + (beacon_s - self.uplink_s) / (1 + self.p)
