"""Back-off policy that receives every beacon while a request is outstanding."""

from __future__ import annotations

from dataclasses import dataclass
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
        self.start(self.beacon_s)

    def start(self, beacon_s: float) -> None:
        """Start without an outstanding request."""
        super().start(beacon_s)
        self._requests = OutstandingRequests()
        self._last_frame_s = self._last_request_s = 0.0
        self._max_beacons = longest_doze(self.max_ms, self.beacon_s)

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
        if self._requests.waiting:
            wait_s = self._last_request_s + self.wait_ms / 1000 - now_s
            return Rest(wait_s) if wait_s > 0 else Rest(0.0, 1, repeat=True)
        target = self.f * (now_s - self._last_frame_s) / self.beacon_s
        if target >= self._max_beacons:
            return Rest(0.0, self._max_beacons, repeat=True)
        return Rest(0.0, max(1, int(target)))
