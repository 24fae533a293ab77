"""Adaptive power saving by packet count."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from psm_sim.common.input_limits import MAX_MS
from psm_sim.common.parameters import parameter
from psm_sim.policies.base import Frame, Rest
from psm_sim.policies.helpers.last_frame_policy import LastFramePolicy
from psm_sim.poll import Poll


@dataclass
class Adaptive(LastFramePolicy):
    """Policy that leaves power save while traffic is heavy (adaptive PSM).

    Phones use this rule, which SAPSM improves on (Pyles and others, UbiComp 2012). The station enters active
    mode when ``frames`` frames have been sent or received within ``interval_ms``. It then stays awake until
    no frame has been sent or received for ``quiet`` times ``interval_ms``. Otherwise, it dozes until the next
    DTIM beacon, as static PSM does. With ``frames=1`` the policy is ``dynamic`` with this timeout.
    """

    name: ClassVar[str] = "adaptive"

    frames: int = parameter(
        4, "number of frames within an interval that starts active mode", at_least=1, at_most=10_000
    )
    interval_ms: float = parameter(
        100.0, "interval in which frames are counted", unit="ms", above=0, at_most=MAX_MS
    )
    quiet: int = parameter(
        1, "number of intervals without a frame that end active mode", at_least=1, at_most=10_000
    )

    def start(self, beacon_s: float) -> None:
        """Start with one frame at time 0."""
        super().start(beacon_s)
        self._times_s = deque([0.0], maxlen=self.frames)
        self._quiet_s = self.quiet * self.interval_ms / 1000
        self._active = self.frames == 1

    def sent(self, now_s: float, frame: Frame) -> None:
        """Count a frame sent."""
        self._count(now_s)
        super().sent(now_s, frame)

    def received(self, now_s: float, frame: Frame) -> None:
        """Count a frame received, including group addressed frames."""
        self._count(now_s)
        super().received(now_s, frame)

    def _count(self, now_s: float) -> None:
        if now_s - self.last_s > self._quiet_s:
            self._active = False
        self._times_s.append(now_s)
        is_full = len(self._times_s) == self.frames
        if is_full and now_s - self._times_s[0] <= self.interval_ms / 1000:
            self._active = True

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Wait for the end of active mode, then doze."""
        wait_s = self.after(now_s, poll, self._quiet_s) if self._active else 0.0
        self._active = wait_s > 0
        return self.aligned(now_s, wait_s, self.dtim.period)
