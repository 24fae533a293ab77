"""Doze of a radio between two wake-ups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from psm_sim.beacons import Beacons
from psm_sim.network.segment import BufferedFrame
from psm_sim.policies import Poll, Rest
from psm_sim.policies.base import Plan


class Doze:
    """Current doze of a radio. All times are in seconds.

    A :class:`~psm_sim.policies.Rest` can promise further dozes, either of the same length (``Rest.repeat``)
    or of different lengths (``Rest.plan``). If no frame is buffered at the end of a doze, the radio begins
    the next promised doze without a new decision.

    Parameters
    ----------
    beacons
        The beacon times.
    takes_plans
        Whether ``Rest.plan`` is used. If not, the policy decides after each doze, and a page of ``lpsm``
        takes 2.5 times as long to simulate.

    Attributes
    ----------
    since_s, wakes_s : float
        Start of the doze, and time of the beacon for which the radio wakes.
    number : int
        Number of the beacon for which the radio wakes.
    every : int
        Length of the doze in beacons. :meth:`load_promised_doze` sets it to the length of the next doze.
    every_s : float
        ``every`` in seconds.
    """

    def __init__(self, beacons: Beacons, takes_plans: bool = True) -> None:
        self._beacons, self._takes_plans = beacons, takes_plans
        self.number = 0
        self.every = 1
        self._promised: float = 0  # number of promised dozes of this length that remain
        self._plan: Plan | None = None
        self._dozes: Iterator[tuple[int, float]] | None = None  # iterator of the plan, created on first use
        self._followed = 0  # number of promised dozes taken
        self.since_s = self.wakes_s = 0.0
        self.every_s = beacons.interval_s

    def begin(self, since_s: float, rest: Rest) -> None:
        """Begin a doze at *since_s*, as *rest* specifies."""
        self.every = every = rest.beacons
        self.every_s = self._beacons.time(every)
        self._promised = inf if rest.repeat else 0
        self._plan, self._dozes = rest.plan if self._takes_plans else None, None
        self._wake_for(self._beacons.after(since_s) + every - 1, since_s)

    def miss(self) -> None:
        """Extend the doze to the next beacon, because the planned one was missed."""
        self._wake_for(self.number + 1, self.since_s)

    def load_promised_doze(self) -> bool:
        """Return whether the radio can begin another doze at ``wakes_s`` without a new decision.

        If no promised doze of the current length is left, load the next length from the plan.
        """
        if not self._promised and self._plan is not None:
            if self._dozes is None:
                self._dozes = iter(self._plan.dozes())
            self.every, self._promised = next(self._dozes, (self.every, 0))
            self.every_s = self._beacons.time(self.every)
        return self._promised > 0

    def skip_empty_beacons(self, now_s: float) -> int:
        """Begin the promised dozes from ``wakes_s`` until *now_s*. Return their number.

        Call this only after :meth:`load_promised_doze` has returned true. One call handles all successive
        dozes of equal length. An event for each beacon would make a run of ``psm`` 6 times as long.
        """
        more = (self._beacons.before(now_s) - self.number) // self.every
        skipped = int(min(more + 1, self._promised))
        self._promised -= skipped
        self._followed += skipped
        last = self.number + (skipped - 1) * self.every
        self._wake_for(last + self.every, self._beacons.time(last))
        return skipped

    def end(self, now_s: float, frames: Sequence[BufferedFrame] = ()) -> Poll:
        """End the doze at *now_s*. Return a poll with its length and the sizes and times of *frames*."""
        if self._followed or self._plan is not None:
            self.report_plan_followed()
        slept_ms = 1000.0 * (now_s - self.since_s)
        if not frames:
            return Poll(slept_ms)
        since_s, buffered_bytes, arrivals = self.since_s, 0, []
        for arrived_s, segment in frames:
            size = segment.wire_bytes
            buffered_bytes += size
            arrivals.append((1000.0 * (arrived_s - since_s), size))
        return Poll(slept_ms, buffered_bytes, len(arrivals), tuple(arrivals))

    def report_plan_followed(self) -> None:
        """Call ``followed`` of the plan if any of its dozes was taken, and discard the plan."""
        if self._followed and self._plan is not None:
            self._plan.followed(self._followed, self.number)
        self._plan, self._followed = None, 0

    def _wake_for(self, number: int, since_s: float) -> None:
        self.number, self.since_s = number, since_s
        self.wakes_s = self._beacons.time(number)
