"""Outstanding: listen while a request is outstanding, else back off; the rule that a learner has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.bounds import MOST_MS, MOST_WEIGHT
from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Frame, Policy, Rest
from psm_sim.policies.flows import Flows, is_useful, longest_doze
from psm_sim.poll import Poll

_EVERY = Rest(0.0, 1, repeat=True)
"""Every beacon is heard."""


@dataclass
class Outstanding(Policy):
    """Hear every beacon while a request is outstanding, and back off to the longest doze otherwise.

    While a flow waits for its reply (:class:`~psm_sim.policies.flows.Flows`) the radio stays awake until
    ``wait_ms`` after the last SYN or payload sent, and then hears every beacon. Otherwise a doze lasts ``f``
    times the time since the last frame, at least one beacon and at most ``max_ms``. Nothing is learnt.
    """

    name: ClassVar[str] = "outstanding"

    wait_ms: float = parameter(
        0.0,
        "time to stay awake after a SYN or payload sent, for its reply",
        unit="ms",
        at_least=0,
        at_most=MOST_MS,
    )
    f: float = parameter(
        100.0,
        "doze over the time since the last frame, when nothing is awaited",
        above=0,
        at_most=MOST_WEIGHT,
    )
    max_ms: float = parameter(1200.0, "longest doze", unit="ms", above=0, at_most=MOST_MS)
    mss: int = parameter(1460, "payload of a full TCP segment", unit="bytes", at_least=1, at_most=65_535)

    def __post_init__(self) -> None:
        check_all(self, "policy outstanding")
        self._begin()

    def start(self, beacon_s: float) -> None:
        """Begin with nothing outstanding."""
        super().start(beacon_s)
        self._begin()

    def _begin(self) -> None:
        self._flows = Flows(self.mss)
        self._asked_s = self._last_frame_s = 0.0
        self._most = longest_doze(self.max_ms, self.beacon_s)
        self._longest = Rest(0.0, self._most, repeat=True)

    def sent(self, now_s: float, frame: Frame) -> None:
        """Take note that a reply is awaited, or no more."""
        self._flows.sent(frame)
        self._last_frame_s = now_s
        if is_useful(frame):
            self._asked_s = now_s

    def received(self, now_s: float, frame: Frame) -> None:
        """Take note of a reply."""
        self._flows.received(frame)
        self._last_frame_s = now_s

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until the next beacon if a reply is awaited, else ever longer."""
        if not self._flows.waiting:
            return self._back_off(now_s)
        wait_s = self._asked_s + self.wait_ms / 1000 - now_s
        return Rest(wait_s) if wait_s > 0 else _EVERY

    def _back_off(self, now_s: float) -> Rest:
        wanted = self.f * (now_s - self._last_frame_s) / self.beacon_s
        return self._longest if wanted >= self._most else Rest(0.0, max(1, int(wanted)))
