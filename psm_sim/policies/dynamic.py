"""Dynamic: the adaptive power saving of shipped drivers, awake for a while after traffic and then dozing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from psm_sim.limits import MAX_MS
from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Rest
from psm_sim.policies.last_frame import LastFrame
from psm_sim.poll import Poll


class Stack(NamedTuple):
    """Stack: how long a driver stays awake after a frame, in ms, and every how many DTIM beacons it wakes."""

    timeout_ms: float
    dtims: int = 1


STACKS = {
    "linux": Stack(100),
    "iwlwifi": Stack(100),
    "iwlwifi-low-power": Stack(100, 3),
    "brcmfmac": Stack(2000),
    "cyw43": Stack(200),
    "qualcomm": Stack(200),
    "esp-idf": Stack(50),
    "nrf70": Stack(100),
    "talaria": Stack(12),
}
"""Shipped drivers: mac80211's mlme.c, iwlwifi's mvm/constants.h and power.c, brcmfmac's cfg80211.c, cyw43.h
of cyw43-driver, Qualcomm's gDataInactivityTimeout, nRF Connect's power-save guide, ESP-IDF's Kconfig, and
the power-management note of Talaria TWO."""


@dataclass
class Dynamic(LastFrame):
    """Stay awake for a while after each frame, then doze and wake for DTIM beacons or at a listen interval.

    What Linux calls dynamic power save, and Broadcom PM2. The presets are those of shipped drivers. As in
    these, the station leaves the power-save mode with its first frame: what is held comes at once.
    """

    name: ClassVar[str] = "dynamic"

    stack: str = parameter("linux", "the driver whose numbers are taken", choices=tuple(STACKS))
    timeout_ms: float | None = parameter(
        None, "time awake after a frame; none: the driver's", unit="ms", at_least=0, at_most=MAX_MS,
        optional=True,
    )  # fmt: skip
    listen_interval: int | None = parameter(
        None, "wake for the beacons whose numbers it divides; none: for DTIM beacons", unit="beacons",
        at_least=1, at_most=65_535, optional=True, kind=int,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "policy dynamic")
        self._begin()

    def start(self, beacon_s: float) -> None:
        """Begin with the timeout running."""
        super().start(beacon_s)
        self._begin()

    def _begin(self) -> None:
        stack = STACKS[self.stack]
        self._timeout_s = (stack.timeout_ms if self.timeout_ms is None else self.timeout_ms) / 1000
        beacons = self.listen_interval
        self._interval = stack.dtims * self.dtim.period if beacons is None else self.dtim.interval(beacons)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Wait for the timeout, then doze; arguments as for :class:`~psm_sim.policies.base.Policy`."""
        return self.aligned(now_s, self.after(now_s, poll, self._timeout_s), self._interval)
