"""Adaptive power saving of production drivers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from psm_sim.common.input_limits import MAX_MS
from psm_sim.common.parameters import parameter
from psm_sim.policies.base import Rest
from psm_sim.policies.helpers.last_frame_policy import LastFramePolicy
from psm_sim.poll import Poll


class DriverDefaults(NamedTuple):
    """Power-save settings of a driver.

    Attributes
    ----------
    timeout_ms : float
        Time for which the driver stays awake after a frame, in ms.
    dtims : int
        Wake-up interval, in DTIM beacons.
    """

    timeout_ms: float
    dtims: int = 1


DRIVER_DEFAULTS = {
    "linux": DriverDefaults(100),
    "iwlwifi": DriverDefaults(100),
    "iwlwifi-low-power": DriverDefaults(100, 3),
    "brcmfmac": DriverDefaults(2000),
    "cyw43": DriverDefaults(200),
    "qualcomm": DriverDefaults(200),
    "esp-idf": DriverDefaults(50),
    "nrf70": DriverDefaults(100),
    "talaria": DriverDefaults(12),
}
"""Settings of production drivers.

Sources: mac80211's mlme.c, iwlwifi's mvm/constants.h and power.c, brcmfmac's cfg80211.c, cyw43.h of
cyw43-driver, Qualcomm's gDataInactivityTimeout, nRF Connect's power-save guide, ESP-IDF's Kconfig, and the
power-management note of Talaria TWO.
"""


@dataclass
class Dynamic(LastFramePolicy):
    """Policy that stays awake for a timeout after each frame and then dozes.

    The radio wakes for DTIM beacons, or at a listen interval. Linux calls this dynamic power save, and
    Broadcom calls it PM2. The presets are those of production drivers. As in these drivers, the station
    leaves power-save mode with its first frame, which retrieves the buffered frames at once.
    """

    name: ClassVar[str] = "dynamic"

    stack: str = parameter("linux", "driver whose settings are used", choices=tuple(DRIVER_DEFAULTS))
    timeout_ms: float | None = parameter(
        None, "time awake after a frame (none: setting of the driver)", unit="ms", at_least=0, at_most=MAX_MS,
    )  # fmt: skip
    listen_interval: int | None = parameter(
        None, "wake for every n-th beacon (none: wake for DTIM beacons)", unit="beacons",
        at_least=1, at_most=65_535,
    )  # fmt: skip

    def start(self, beacon_s: float) -> None:
        """Start with the timeout running."""
        super().start(beacon_s)
        stack = DRIVER_DEFAULTS[self.stack]
        self._timeout_s = (stack.timeout_ms if self.timeout_ms is None else self.timeout_ms) / 1000
        listen_interval = self.listen_interval
        self._interval = stack.dtims * self.dtim.period if listen_interval is None else listen_interval

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Wait for the timeout, then doze."""
        return self.aligned(now_s, self.after(now_s, poll, self._timeout_s), self._interval)
