"""Outstanding: listen while a request is outstanding, else back off; the rule that a learner has to beat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import ClassVar

from psm_sim.limits import MAX_MS, MAX_WEIGHT
from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Frame, Plan, Policy, Rest
from psm_sim.policies.outstanding_requests import StationRequests, is_useful, longest_doze
from psm_sim.poll import Poll

_EVERY = Rest(0.0, 1, repeat=True)
"""Every beacon is heard."""


@dataclass
class OutstandingPolicy(Policy):
    """Hear every beacon while a request is outstanding, and back off to the longest doze otherwise.

    While a flow waits for its reply (:class:`~psm_sim.policies.outstanding_requests.OutstandingRequests`) the radio stays awake until
    ``wait_ms`` after the last SYN or payload sent, and then hears every beacon. Otherwise a doze lasts ``f``
    times the time since the last frame, at least one beacon and at most ``max_ms``. Nothing is learnt.
    """

    name: ClassVar[str] = "outstanding"

    wait_ms: float = parameter(
        0.0,
        "time to stay awake after a SYN or payload sent, for its reply",
        unit="ms",
        at_least=0,
        at_most=MAX_MS,
    )
    f: float = parameter(
        100.0,
        "doze over the time since the last frame, when nothing is awaited",
        above=0,
        at_most=MAX_WEIGHT,
    )
    max_ms: float = parameter(1200.0, "longest doze", unit="ms", above=0, at_most=MAX_MS)
    mss: int = parameter(1460, "payload of a full TCP segment", unit="bytes", at_least=1, at_most=65_535)

    def __post_init__(self) -> None:
        check_all(self, "policy outstanding")
        self._flows = StationRequests(self.mss)
        own = type(self)
        if own.sent is OutstandingPolicy.sent and own.received is OutstandingPolicy.received:
            self.flows = self._flows  # all it needs to know; a class derived from it is told of its frames
        self._begin()

    def start(self, beacon_s: float) -> None:
        """Begin with nothing outstanding."""
        super().start(beacon_s)
        self._begin()

    def _begin(self) -> None:
        self._flows.clear()
        self._most = longest_doze(self.max_ms, self.beacon_s)
        self._longest, self._settled = Rest(0.0, self._most, repeat=True), _Settled(self._most)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Take note that a reply is awaited, or no more."""
        self._flows.last_frame_s, useful = now_s, is_useful(frame)
        if useful or frame.fin:
            self._flows.note_sent(now_s, frame.flow, useful, frame.fin)

    def received(self, now_s: float, frame: Frame) -> None:
        """Take note of a reply."""
        self._flows.last_frame_s = now_s
        self._flows.received(frame)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until the next beacon if a reply is awaited, else ever longer."""
        if self._flows.is_quiet():
            return self._back_off(now_s)
        wait_s = self._flows.asked_s + self.wait_ms / 1000 - now_s
        return Rest(wait_s) if wait_s > 0 else _EVERY

    def _back_off(self, now_s: float) -> Rest:
        wanted, grid = self._wanted(now_s), self.beacon_grid
        if wanted >= self._most:
            return self._longest
        beacons = max(1, int(wanted))
        wakes_s = grid.time(grid.after(now_s) + beacons - 1)
        return _doze(beacons, self._settled if self._wanted(wakes_s) >= self._most else None)

    def _wanted(self, now_s: float) -> float:
        """Return how many beacons to doze from *now_s* on, when nothing is awaited."""
        return self.f * (now_s - self._flows.last_frame_s) / self.beacon_s


class _Settled:
    """Plan of a doze after which each is as long as may be, until a frame moves."""

    def __init__(self, beacons: int) -> None:
        self._beacons = beacons

    def dozes(self) -> Iterator[tuple[int, float]]:
        yield self._beacons, inf

    def followed(self, heard: int, until: int) -> None:
        pass


@lru_cache(maxsize=256)
def _doze(beacons: int, plan: Plan | None) -> Rest:
    return Rest(0.0, beacons, plan=plan)
