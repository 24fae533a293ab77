"""Predict: doze until a reply is likely, then wait for it awake."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from psm_sim.limits import MAX_MS
from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Frame, Rest
from psm_sim.policies.last_frame import LastFrame
from psm_sim.policies.outstanding_requests import OutstandingRequests, is_useful
from psm_sim.poll import Poll


@dataclass
class Predict(LastFrame):
    """Doze until the time at which replies begin to come, then stay awake until most have come.

    After EAPS (Sheth, Dezfouli and others, IEEE Systems Journal 2022), which predicts the delay of a reply
    and sleeps until then. Here the delays of the last replies are kept, and two quantiles of them say when
    to be awake. A station wakes on beacons, so it wakes at the last one before; and what comes before
    ``learn`` replies are known, or later than the second quantile, is waited for as in ``dynamic``.
    """

    name: ClassVar[str] = "predict"

    early: float = parameter(0.05, "share of replies that may come before it is awake", at_least=0, at_most=1)
    late: float = parameter(0.9, "share of replies that it waits for awake", at_least=0, at_most=1)
    memory: int = parameter(64, "replies remembered", at_least=1, at_most=10_000)
    learn: int = parameter(4, "replies before it predicts", at_least=1, at_most=10_000)
    timeout_ms: float = parameter(
        100.0, "time awake after a frame until then", unit="ms", at_least=0, at_most=MAX_MS
    )
    mss: int = parameter(1460, "payload of a full TCP segment", unit="bytes", at_least=1, at_most=65_535)

    def __post_init__(self) -> None:
        check_all(self, "policy predict")
        self._begin()

    def start(self, beacon_s: float) -> None:
        """Begin with no reply known."""
        super().start(beacon_s)
        self._begin()

    def _begin(self) -> None:
        self._flows, self._delays_s = OutstandingRequests(self.mss), deque[float](maxlen=self.memory)
        self._asked_s = self._came_s = 0.0
        self._open, self._fetched = False, False

    def sent(self, now_s: float, frame: Frame) -> None:
        """Take note that a reply is awaited from now on."""
        super().sent(now_s, frame)
        self._flows.sent(frame)
        if is_useful(frame):
            self._asked_s, self._open, self._fetched = now_s, True, False

    def received(self, now_s: float, frame: Frame) -> None:
        """Take note of a reply: the first frame that comes after a request."""
        super().received(now_s, frame)
        self._flows.received(frame)
        if self._open and is_useful(frame):
            self._open, self._fetched, self._came_s = False, True, now_s
            self._delays_s.append(max(0.0, now_s - self._asked_s))

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until a reply is likely, or wait for it.

        Arguments as for :class:`~psm_sim.policies.base.Policy`.
        """
        self._correct(poll)
        return self._decide(now_s, poll)

    def _correct(self, poll: Poll | None) -> None:
        """Take the access point's time of a reply that waited for the beacon."""
        if self._fetched and poll is not None and poll.arrivals:
            woke_s = self.beacon_grid.time(self.beacon_grid.after(self._came_s) - 1)
            arrived_s = woke_s + (poll.arrivals[0][0] - poll.slept_ms) / 1000
            self._delays_s[-1] = max(0.0, arrived_s - self._asked_s)
        self._fetched = False

    def _decide(self, now_s: float, poll: Poll | None) -> Rest:
        if not self._flows.waiting:
            return self.aligned(now_s, 0.0, self.dtim.period)
        if len(self._delays_s) < self.learn:
            return self.aligned(now_s, self.after(now_s, poll, self.timeout_ms / 1000), 1)
        begins_s, ends_s = (self._asked_s + self._quantile(share) for share in (self.early, self.late))
        beacons = self.beacon_grid.after(begins_s) - self.beacon_grid.after(now_s)
        if beacons >= 1:
            return Rest(0.0, beacons)
        return self.aligned(now_s, max(0.0, ends_s - now_s), 1)

    def _quantile(self, share: float) -> float:
        delays_s = sorted(self._delays_s)
        return delays_s[max(0, ceil(share * len(delays_s)) - 1)]
