"""Beacon grid: the numbers and times of the beacons before and after a time."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psm_sim.array_types import FloatArray

TOLERANCE_S = 1e-9
"""Times in seconds that are no further apart count as equal.

A time that was added up from delays misses the beacon that it falls on by some rounding errors, each at most
1e-10 s after ten days of simulated time; and a byte at 1 Gbit/s takes 8e-9 s. One nanosecond lies between.
"""


@dataclass(frozen=True, slots=True)
class Beacons:
    """Beacon grid of one access point: beacon k is sent at k times ``interval_s`` seconds.

    Every time is the product, never a sum, so that the same beacon has the same time to the last bit.
    """

    interval_s: float

    def time(self, number: int) -> float:
        """Return the time of a beacon, in seconds."""
        return number * self.interval_s

    def after(self, time_s: float) -> int:
        """Return the number of the first beacon after a time; one within the tolerance of it is past."""
        return floor((time_s + TOLERANCE_S) / self.interval_s) + 1

    def before(self, time_s: float) -> int:
        """Return the number of the last beacon sent before a time, exactly.

        Without tolerance, since it tells what has happened: whatever happens at a beacon's own time is not
        before it, and one bit later is.
        """
        number = floor(time_s / self.interval_s)
        while self.time(number + 1) < time_s:
            number += 1
        while self.time(number) >= time_s:
            number -= 1
        return number

    def on(self, time_s: float) -> bool:
        """Say whether a beacon is sent at a time, within the tolerance."""
        return abs(time_s - self.time(round(time_s / self.interval_s))) < TOLERANCE_S

    def times_after(self, times_s: FloatArray) -> FloatArray:
        """Return the time of the first beacon after each of some times, as :meth:`after`; any shape."""
        import numpy as np  # here: a policy of one's own starts without it

        return (np.floor((times_s + TOLERANCE_S) / self.interval_s) + 1) * self.interval_s

    def times_until(self, times_s: FloatArray) -> FloatArray:
        """Return the time of the last beacon that is not after each of some times; any shape."""
        import numpy as np

        return np.floor((times_s + TOLERANCE_S) / self.interval_s) * self.interval_s
