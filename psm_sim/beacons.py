"""Grid of beacon times, and the beacons before and after a given time."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psm_sim.common.array_types import FloatArray

TOLERANCE_S = 1e-9
"""Tolerance of time comparisons, in seconds.

A time that is a sum of delays misses its beacon by rounding errors of at most 1e-10 s after ten days of
simulated time. One byte at 1 Gbit/s takes 8e-9 s. One nanosecond lies between the two.
"""


@dataclass(frozen=True, slots=True)
class Beacons:
    """Beacon grid of one access point: beacon k is sent at k times ``interval_s`` seconds.

    Every time is computed as this product and never as a sum, so that a beacon always has bit-for-bit the
    same time.

    Parameters
    ----------
    interval_s : float
        The beacon interval, in seconds.
    """

    interval_s: float

    def time(self, number: int) -> float:
        """Return the time of the beacon with a given *number*, in seconds."""
        return number * self.interval_s

    def after(self, time_s: float) -> int:
        """Return the number of the first beacon after *time_s*.

        A beacon within the tolerance of *time_s* counts as past.
        """
        return floor((time_s + TOLERANCE_S) / self.interval_s) + 1

    def before(self, time_s: float) -> int:
        """Return the number of the last beacon sent strictly before *time_s*.

        The comparison is exact. An event at the time of a beacon is not before it, so no tolerance applies.
        """
        number = floor(time_s / self.interval_s)
        while self.time(number + 1) < time_s:
            number += 1
        while self.time(number) >= time_s:
            number -= 1
        return number

    def on(self, time_s: float) -> bool:
        """Return whether a beacon is sent at *time_s*, within the tolerance."""
        return abs(time_s - self.time(round(time_s / self.interval_s))) < TOLERANCE_S

    def times_after(self, times_s: FloatArray) -> FloatArray:
        """Return the time of the first beacon after each of *times_s*, an array of any shape.

        See :meth:`after`.
        """
        import numpy as np  # imported here, so that a user-defined policy loads without NumPy

        return (np.floor((times_s + TOLERANCE_S) / self.interval_s) + 1) * self.interval_s

    def times_until(self, times_s: FloatArray) -> FloatArray:
        """Return the time of the last beacon at or before each of *times_s*, an array of any shape."""
        import numpy as np

        return np.floor((times_s + TOLERANCE_S) / self.interval_s) * self.interval_s
