"""Doze: since when a radio sleeps, which beacons it wakes for, and what it sees when it wakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from psm_sim.beacons import Beacons
from psm_sim.network.segment import BufferedFrame
from psm_sim.policies import Poll, Rest
from psm_sim.policies.base import Plan
from psm_sim.poll import make_poll


class Doze:
    """Doze of a radio, begun again and again; all times in seconds.

    ``since_s`` is when it began, ``wakes_s`` the time of the beacon that the radio will wake for. Beyond it
    the rest may have promised more dozes, each begun by the beacon that ends another and at which nothing is
    held: all of the same length if it repeats, else those of its plan. ``every_s`` is the time from one of
    the beacons last slept through to the next.
    """

    def __init__(self, beacons: Beacons, takes_plans: bool = True) -> None:
        self._beacons, self._takes_plans = beacons, takes_plans
        self._number = 0  # of the beacon at wakes_s
        self._every = 1  # beacons that each promised doze lasts
        self._promised: float = 0  # dozes of that length that are still to come
        self._plan: Plan | None = None
        self._dozes: Iterator[tuple[int, float]] | None = None  # of the plan, once the first one is due
        self._followed = 0
        self.since_s = self.wakes_s = 0.0
        self.every_s = beacons.interval_s

    def begin(self, since_s: float, rest: Rest) -> None:
        """Begin at *since_s* to sleep as the policy said."""
        self._every = every = rest.beacons
        self.every_s = self._beacons.time(every)
        self._promised = inf if rest.repeat else 0
        self._plan, self._dozes = rest.plan if self._takes_plans else None, None
        self._wake_for(self._beacons.after(since_s) + every - 1, since_s)

    @property
    def number(self) -> int:
        """The number of the beacon that the radio will wake for."""
        return self._number

    def miss(self) -> None:
        """Wake for the beacon after the one planned, which was missed; the doze goes on."""
        self._wake_for(self._number + 1, self.since_s)

    def load_promised_doze(self) -> bool:
        """Say whether another doze is promised if nothing is held at ``wakes_s``."""
        if not self._promised and self._plan is not None:
            if self._dozes is None:
                self._dozes = iter(self._plan.dozes())
            self._every, self._promised = next(self._dozes, (self._every, 0))
            self.every_s = self._beacons.time(self._every)
        return self._promised > 0

    def skip_empty_beacons(self, now_s: float) -> int:
        """Sleep on after every beacon before *now_s*, ``wakes_s`` the first; return their number.

        Each call begins dozes of one length only; :meth:`continues` must have returned true.
        """
        more = (self._beacons.before(now_s) - self._number) // self._every
        heard = int(min(more + 1, self._promised))
        self._promised -= heard
        self._followed += heard
        last = self._number + (heard - 1) * self._every
        self._wake_for(last + self._every, self._beacons.time(last))
        return heard

    def end(self, now_s: float, frames: Sequence[BufferedFrame] = ()) -> Poll:
        """Return what a station sees that wakes now and fetches *frames*."""
        if self._followed or self._plan is not None:
            self.report_plan_followed()
        slept_ms = 1000.0 * (now_s - self.since_s)
        if not frames:
            return make_poll(slept_ms)
        since_s, buffered_bytes, arrivals = self.since_s, 0, []
        for arrived_s, segment in frames:
            size = segment.wire_bytes
            buffered_bytes += size
            arrivals.append((1000.0 * (arrived_s - since_s), size))
        return make_poll(slept_ms, buffered_bytes, len(arrivals), tuple(arrivals))

    def report_plan_followed(self) -> None:
        """Tell the plan how much of it was followed; it is not followed further."""
        if self._followed and self._plan is not None:
            self._plan.followed(self._followed, self._number)
        self._plan, self._followed = None, 0

    def _wake_for(self, number: int, since_s: float) -> None:
        self._number, self.since_s = number, since_s
        self.wakes_s = self._beacons.time(number)
