"""Policy that predicts when a reply arrives."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from psm_sim.common.input_limits import MAX_MS
from psm_sim.common.parameters import parameter
from psm_sim.policies.base import Frame, Rest
from psm_sim.policies.helpers.last_frame_policy import LastFramePolicy
from psm_sim.policies.helpers.outstanding_requests import OutstandingRequests, is_useful
from psm_sim.poll import Poll


@dataclass
class Predict(LastFramePolicy):
    """Policy that dozes until a reply is likely and then waits for it awake.

    The policy follows EAPS (Sheth, Dezfouli and others, IEEE Systems Journal 2022), which predicts the delay
    of a reply and sleeps until then. Here the delays of the last replies are recorded, and two of their
    quantiles define the time awake. Because a station wakes at beacons, it wakes at the last beacon before
    that time. Until ``learn`` replies have been recorded, or after the second quantile, the station waits as
    in ``dynamic``.
    """

    name: ClassVar[str] = "predict"

    early: float = parameter(
        0.05, "quantile of the reply delay from which the radio is awake", at_least=0, at_most=1
    )
    late: float = parameter(
        0.9, "quantile of the reply delay until which the radio waits awake", at_least=0, at_most=1
    )
    memory: int = parameter(64, "number of recorded replies", at_least=1, at_most=10_000, expert=True)
    learn: int = parameter(
        4, "number of replies before the first prediction", at_least=1, at_most=10_000, expert=True
    )
    timeout_ms: float = parameter(
        100.0, "time awake after a frame before the first prediction", unit="ms", at_least=0, at_most=MAX_MS
    )

    arrivals: bool = parameter(
        True, "whether arrival times at the access point are known, which no real station knows", expert=True
    )

    def start(self, beacon_s: float) -> None:
        """Start without any recorded reply."""
        super().start(beacon_s)
        self._flows, self._delays_s = OutstandingRequests(), deque[float](maxlen=self.memory)
        self._request_s = self._reply_s = 0.0
        self._awaits_reply, self._retrieved = False, False

    def sent(self, now_s: float, frame: Frame) -> None:
        """Handle a frame sent. A useful frame is a request."""
        super().sent(now_s, frame)
        self._flows.sent(frame)
        if is_useful(frame):
            self._request_s, self._awaits_reply, self._retrieved = now_s, True, False

    def received(self, now_s: float, frame: Frame) -> None:
        """Handle a frame received. The first useful frame after a request is its reply."""
        super().received(now_s, frame)
        self._flows.received(frame)
        if self._awaits_reply and is_useful(frame):
            self._awaits_reply, self._retrieved, self._reply_s = False, True, now_s
            self._delays_s.append(max(0.0, now_s - self._request_s))

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until a reply is likely, or wait for it awake."""
        self._correct(poll)
        return self._decide(now_s, poll)

    def _correct(self, poll: Poll | None) -> None:
        """Replace the delay of a buffered reply by the delay until its arrival at the access point."""
        if self.arrivals and self._retrieved and poll is not None and poll.arrivals:
            woke_s = self.beacon_grid.time(self.beacon_grid.after(self._reply_s) - 1)
            arrived_s = woke_s + (poll.arrivals[0][0] - poll.slept_ms) / 1000
            self._delays_s[-1] = max(0.0, arrived_s - self._request_s)
        self._retrieved = False

    def _decide(self, now_s: float, poll: Poll | None) -> Rest:
        if not self._flows.waiting:
            return self.aligned(now_s, 0.0, self.dtim.period)
        if len(self._delays_s) < self.learn:
            return self.aligned(now_s, self.after(now_s, poll, self.timeout_ms / 1000), 1)
        earliest_s, latest_s = (self._request_s + self._quantile(share) for share in (self.early, self.late))
        beacons = self.beacon_grid.after(earliest_s) - self.beacon_grid.after(now_s)
        if beacons >= 1:
            return Rest(0.0, beacons)
        return self.aligned(now_s, max(0.0, latest_s - now_s), 1)

    def _quantile(self, share: float) -> float:
        delays_s = sorted(self._delays_s)
        return delays_s[max(0, ceil(share * len(delays_s)) - 1)]
