"""Bound on the delay of a reply: (1 + p) times its time without power saving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.beacons import TOLERANCE_S, Beacons
from psm_sim.common.array_types import FloatArray
from psm_sim.policies.optimal_doze_schedule import DecisionGrid


@dataclass(frozen=True)
class ReplyBound:
    """Bound of Bounded Slowdown: a doze begun e seconds after an uplink packet lasts at most p e.

    A frame can arrive as soon as the doze has begun, and is then retrieved at its end. A reply that takes e
    seconds without power saving therefore takes at most (1 + p) e (Krashinsky and Balakrishnan, section 4).

    Attributes
    ----------
    p : float
        Bound on the slowdown of a reply, minus 1; above 0.
    uplink_s : float
        Time of the last uplink packet, in seconds.
    grid : Beacons
        Beacon grid.
    """

    p: float
    uplink_s: float
    grid: Beacons

    def first_s(self, now_s: float) -> float:
        """Return the first time from *now_s* on at which some doze is allowed, in seconds."""
        number = self.grid.after(now_s)
        while True:
            beacon_s = self.grid.time(number)
            legal_s = max(now_s, self._legal_s(beacon_s))
            if legal_s < beacon_s - TOLERANCE_S:
                return legal_s
            number += 1

    def legal_s(self, beacons_s: FloatArray) -> FloatArray:
        """Return the time from which a doze until each beacon is allowed, in seconds.

        Parameters
        ----------
        beacons_s : ndarray, shape (b,)
            Beacon times, in seconds.
        """
        return self.uplink_s + (beacons_s - self.uplink_s) / (1 + self.p)

    def allows(self, decisions: DecisionGrid, max_beacons: int) -> NDArray[np.bool_]:
        """Return whether each doze of 1 to *max_beacons* beacons is allowed.

        Parameters
        ----------
        decisions : DecisionGrid
            Decision times and beacons.
        max_beacons : int
            Longest doze, in beacons.

        Returns
        -------
        ndarray of bool, shape (n, max_beacons)
            Whether the doze is allowed at each decision time.
        """
        ends_s = decisions.beacons_s[decisions.next_beacon[:, None] + np.arange(max_beacons)]
        start_s = decisions.times_s[:, None]
        return np.asarray(ends_s - start_s <= self.p * (start_s - self.uplink_s) + TOLERANCE_S)

    def _legal_s(self, beacon_s: float) -> float:
        return self.uplink_s + (beacon_s - self.uplink_s) / (1 + self.p)
