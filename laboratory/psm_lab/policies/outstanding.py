"""Back-off policy that receives every beacon while a request is outstanding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from psm_sim.common.input_limits import MAX_MS, MAX_WEIGHT
from psm_sim.common.parameters import check_all, parameter
from psm_sim.policies import Frame, Policy, Poll, Rest
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests, is_useful, longest_doze


@dataclass
class OutstandingPolicy(Policy):
    """Policy that receives every beacon while a request is outstanding, else backs off.

    While a connection waits for its reply, the radio stays awake until ``wait_ms`` after the last SYN or
    payload sent, and then receives every beacon (see
    :class:`~psm_sim.policies.helpers.outstanding_requests.OutstandingRequests`). Otherwise a doze lasts ``f``
    times the time since the last frame, at least one beacon and at most ``max_ms``. The policy does not
    learn, so it is the baseline of the learning policies.
    """

    name: ClassVar[str] = "outstanding"

    wait_ms: float = parameter(
        0.0,
        "time awake after a SYN or payload sent",
        unit="ms",
        at_least=0,
        at_most=MAX_MS,
    )
    f: float = parameter(
        100.0,
        "ratio of a doze to the time since the last frame, without an outstanding request",
        above=0,
        at_most=MAX_WEIGHT,
    )
    max_ms: float = parameter(1200.0, "longest doze", unit="ms", above=0, at_most=MAX_MS)

    def __post_init__(self) -> None:
        check_all(self, "policy outstanding")
        self._reset()

    def start(self, beacon_s: float) -> None:
        """Start without an outstanding request."""
        super().start(beacon_s)
        self._reset()

    def _reset(self) -> None:
        self._requests = OutstandingRequests()
        self._last_frame_s = self._last_request_s = 0.0
        self._max_beacons = longest_doze(self.max_ms, self.beacon_s)
        self._longest_dozes = _LongestDozes(self._max_beacons)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Handle a frame sent, which can open or end a request."""
        self._last_frame_s = now_s
        if is_useful(frame):
            self._last_request_s = now_s
        self._requests.sent(frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a frame received, which can complete a reply. Group addressed frames are ignored."""
        if not frame.group:
            self._last_frame_s = now_s
            self._requests.received(frame)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until the next beacon if a reply is awaited, else back off."""
        if not self._requests.waiting:
            return self._back_off(now_s)
        wait_s = self._last_request_s + self.wait_ms / 1000 - now_s
        return Rest(wait_s) if wait_s > 0 else Rest(0.0, 1, repeat=True)

    def _back_off(self, now_s: float) -> Rest:
        target, grid = self._target_beacons(now_s), self.beacon_grid
        if target >= self._max_beacons:
            return Rest(0.0, self._max_beacons, repeat=True)
        beacons = max(1, int(target))
        wakes_s = grid.time(grid.after(now_s) + beacons - 1)
        is_last = self._target_beacons(wakes_s) >= self._max_beacons
        return Rest(0.0, beacons, plan=self._longest_dozes if is_last else None)

    def _target_beacons(self, now_s: float) -> float:
        """Return the target length of a doze from *now_s* on, in beacons."""
        return self.f * (now_s - self._last_frame_s) / self.beacon_s


class _LongestDozes:
    """Plan of dozes of maximum length, until a frame is sent or received."""

    def __init__(self, beacons: int) -> None:
        self._beacons = beacons

    def dozes(self) -> Iterator[tuple[int, float]]:
        yield self._beacons, inf

    def followed(self, heard: int, until: int) -> None:
        pass
