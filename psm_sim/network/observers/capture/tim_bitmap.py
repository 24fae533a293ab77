"""TIM of the beacons: which of them name a station, from when frames were held."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from psm_sim.beacons import TOLERANCE_S


class TimBitmap:
    """TIM: one station's bit, by the times at which frames begin and cease to be held; times in seconds.

    A frame held at a beacon's own time is announced by it, and one that the beacon makes the station fetch
    was held until then. ``changed_s`` has the times at which the bit changes, ``names_now`` it as it is,
    ``group`` the numbers of beacons that group frames follow, ``heard_s`` the last beacon that the station
    woke for, and ``told_s`` the last change of the frames held, also where another one was added to some.
    """

    def __init__(self) -> None:
        self.changed_s, self._named_first = [-inf], False
        self.names_now = False
        self.heard_s = self.notified_s = -inf
        self.group: set[int] = set()

    def buffered(self, time_s: float, frames: int, retrieved: int) -> float:
        """Take note of the number of frames held; return the time, after the beacon if that was the cause.

        Parameters
        ----------
        time_s, frames, retrieved
            As :class:`~psm_sim.network.observers.Observer` says of ``held``.
        """
        if retrieved and abs(time_s - self.heard_s) < TOLERANCE_S:
            time_s = nextafter(self.heard_s, inf)
        if time_s < self.notified_s:
            time_s = self.notified_s
        self.notified_s = time_s
        if (frames > 0) is not self.names_now:
            self.names_now = frames > 0
            self.changed_s.append(time_s)
        return time_s

    def settled(self, now_s: float) -> float:
        """Return until when all is known: what is held can have grown too old, which is told late."""
        return min(self.notified_s, now_s) if self.names_now else now_s

    def names(self, times_s: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Say which of the beacons at some times (n,), in order, name the station; earlier ones are done."""
        if len(self.changed_s) == 1:
            return np.full(times_s.size, self._named_first)
        passed = np.searchsorted(times_s, self.changed_s, side="left")
        places = np.cumsum(np.bincount(passed, minlength=times_s.size + 1))[: times_s.size] - 1
        named = (places & 1) != self._named_first
        done = int(places[-1]) if places.size else 0
        self._named_first ^= bool(done & 1)
        del self.changed_s[:done]
        return np.asarray(named)

    def groups(self, first: int, count: int) -> NDArray[np.bool_]:
        """Say which of *count* beacons from number *first* on group frames follow; they are then done."""
        found = np.zeros(count, bool)
        for number in [member for member in self.group if member < first + count]:
            self.group.discard(number)
            found[max(0, number - first)] = True
        return found


def bitmaps_of(tims: Sequence[TimBitmap], times_s: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Return the bitmaps of the beacons at some times (n,), (n, octets): bit k is that of association k.

    Parameters
    ----------
    tims
        Of associations 1, 2 and so on.
    times_s
        When beacons are due, in order, in seconds; earlier ones are done.
    """
    if len(tims) == 1:
        return np.where(tims[0].names(times_s), np.uint8(2), np.uint8(0))[:, None]
    bits = np.zeros((times_s.size, 1 + len(tims)), bool)
    for aid, tim in enumerate(tims, 1):
        bits[:, aid] = tim.names(times_s)
    return np.packbits(bits, axis=1, bitorder="little")
