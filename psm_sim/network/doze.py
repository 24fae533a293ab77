"""Doze: since when a radio sleeps, which beacons it wakes for, and what it sees when it wakes."""

from __future__ import annotations

from collections.abc import Sequence

from psm_sim.beacons import Beacons
from psm_sim.policies import Poll, Rest


class Doze:
    """Doze of a radio, begun again and again; all times in seconds.

    ``since_s`` is when it began, ``wakes_s`` the time of the beacon that the radio will wake for. If
    ``repeats``, the radio wakes for every ``every_s``-th second after it too, unasked, as long as nothing
    is held; each of these beacons ends a doze and begins the next.
    """

    def __init__(self, beacons: Beacons) -> None:
        self._beacons = beacons
        self._number = 0  # of the beacon at wakes_s
        self._every = 1  # beacons from one that it wakes for to the next
        self.since_s = 0.0
        self.wakes_s = 0.0
        self.repeats = False

    @property
    def every_s(self) -> float:
        """Time from one beacon that the radio wakes for to the next."""
        return self._beacons.time(self._every)

    def begin(self, since_s: float, rest: Rest) -> None:
        """Begin at *since_s* to sleep as the policy said."""
        self._every, self.repeats = rest.beacons, rest.repeat
        self._wake_for(self._beacons.after(since_s) + rest.beacons - 1, since_s)

    @property
    def number(self) -> int:
        """The number of the beacon that the radio will wake for."""
        return self._number

    def sleep_on(self) -> None:
        """Wake for the beacon after the one planned, which was missed; the doze goes on."""
        self._wake_for(self._number + 1, self.since_s)

    def repeat(self, now_s: float) -> int:
        """Sleep on after every beacon before *now_s*, ``wakes_s`` the first; return their number."""
        more = (self._beacons.before(now_s) - self._number) // self._every
        last = self._number + more * self._every
        self._wake_for(last + self._every, self._beacons.time(last))
        return more + 1

    def poll(self, now_s: float, frames: Sequence[tuple[float, int]] = ()) -> Poll:
        """Return what a station sees that wakes now and fetches *frames*: (time of arrival, bytes)."""
        slept_ms = 1000 * (now_s - self.since_s)
        if not frames:
            return Poll(slept_ms)
        arrivals = tuple((1000 * (arrived_s - self.since_s), size) for arrived_s, size in frames)
        return Poll(slept_ms, sum(size for _, size in frames), len(frames), arrivals)

    def _wake_for(self, number: int, since_s: float) -> None:
        self._number, self.since_s = number, since_s
        self.wakes_s = self._beacons.time(number)
