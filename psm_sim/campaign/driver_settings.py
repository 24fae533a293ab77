"""Power-save settings that the drivers of Wi-Fi stations offer, and the calls that select them.

A setting is a policy with the driver calls that select it. :data:`DRIVERS` names the sources of the calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import lcm

from psm_sim.network.topology_sections import BeaconParameters
from psm_sim.policies.twt import Twt

LISTEN_INTERVALS = (1, 2, 3, 5, 10)
"""Listen intervals that are compared, in beacons. Intervals above 10 are rarely accepted."""

TWT_EXPONENTS = (10, 12, 14)
"""Exponents of the TWT wake intervals that are compared: 512 x 2^e us, so 0.5, 2.1 and 8.4 s."""


NEW_DRIVER, ACCESS_POINT = "new driver", "access point"
"""Needs of a setting: a driver that offers it, or an access point with another DTIM period."""


@dataclass(frozen=True)
class Setting:
    """Power-save setting of a station.

    Attributes
    ----------
    name : str
        Short name, such as ``"listen interval 3"``.
    policy : str
        Policy that simulates the setting.
    calls : tuple of str
        Calls of the driver that select the setting; empty if they are not known.
    wake_beacons : int or None
        Number n if the station wakes for every n-th beacon; 0 if it receives no beacons, None if the number
        varies.
    is_default : bool
        Whether the driver uses the setting unless another one is selected.
    needs : str
        :data:`NEW_DRIVER` or :data:`ACCESS_POINT` if the setting needs more than these calls, otherwise
        empty.
    """

    name: str
    policy: str
    calls: tuple[str, ...] = ()
    wake_beacons: int | None = None
    is_default: bool = False
    needs: str = ""

    def dtim_share(self, dtim_period: int) -> float | None:
        """Return the share of DTIM beacons that the station receives; None if it varies.

        Group addressed frames follow DTIM beacons, so this is also the share of these frames that the station
        receives.
        """
        if self.wake_beacons is None:
            return None
        return dtim_period / lcm(self.wake_beacons, dtim_period) if self.wake_beacons else 0.0


@dataclass(frozen=True)
class Driver:
    """Power-save settings of one driver.

    A call may contain placeholders: ``{n}`` for the listen interval, ``{ms}`` for the time awake after a
    frame, and ``{pm}`` for the mode of the CYW43 with this time.

    Attributes
    ----------
    off : tuple of str
        Calls that turn power saving off.
    dtim, listen : tuple of str, or None
        Calls that select waking for DTIM beacons (*dtim*), or for every n-th beacon (*listen*). If *listen*
        is None, the driver has no listen interval.
    timeouts_ms : tuple of int
        Times awake after a frame to compare, in ms, beginning with the driver's default. With 0 the station
        stays in power-save mode and retrieves each buffered frame by itself (static PSM).
    timeout : tuple of str
        Calls that set a time awake other than the default; empty if the other calls set it.
    uapsd : tuple of str, or None
        Calls that select U-APSD; None if the driver has none.
    twt : tuple of str
        Calls that request a TWT agreement, with the placeholders ``{interval_us}``, ``{mantissa}`` and
        ``{exponent}``.
    multiples_only : bool
        Whether the driver rounds listen intervals to multiples of the DTIM period.
    longest_listen : int
        Longest listen interval, in beacons.
    """

    off: tuple[str, ...] = ()
    dtim: tuple[str, ...] = ()
    listen: tuple[str, ...] | None = ()
    timeouts_ms: tuple[int, ...] = (100, 0)
    timeout: tuple[str, ...] = ()
    uapsd: tuple[str, ...] | None = ()
    twt: tuple[str, ...] = ()
    multiples_only: bool = False
    longest_listen: int = 65_535


_CYW43 = "cyw43_wifi_pm(&cyw43_state, cyw43_pm_value({mode}, {wake}, 10))"

_ITWT = "wake_invl_mant={mantissa}, wake_invl_expn={exponent} and min_wake_dura=32"

DRIVERS = {
    "esp-idf": Driver(
        off=("esp_wifi_set_ps(WIFI_PS_NONE)",),
        dtim=("esp_wifi_set_ps(WIFI_PS_MIN_MODEM)",),
        listen=("esp_wifi_set_ps(WIFI_PS_MAX_MODEM)", "wifi_config.sta.listen_interval = {n}"),
        timeouts_ms=(50, 8),
        timeout=("CONFIG_ESP_WIFI_SLP_IRAM_OPT=y", "CONFIG_ESP_WIFI_SLP_DEFAULT_MIN_ACTIVE_TIME={ms}"),
        uapsd=None,
        twt=(f"esp_wifi_sta_itwt_setup() with {_ITWT}",),
    ),
    "cyw43": Driver(
        off=(_CYW43.format(mode="CYW43_NO_POWERSAVE_MODE, 200", wake="1, 1"),),
        dtim=(_CYW43.format(mode="{pm}", wake="1, 1"),),
        listen=(_CYW43.format(mode="{pm}", wake="{n}, 0"),),
        timeouts_ms=(200, 20, 0),
        uapsd=None,
        longest_listen=15,
    ),
    "nrf70": Driver(
        off=("wifi ps off",),
        dtim=("wifi ps_wakeup_mode dtim",),
        listen=("wifi ps_listen_interval {n}, before connecting", "wifi ps_wakeup_mode listen_interval"),
        timeouts_ms=(100, 0),
        timeout=("wifi ps_timeout {ms}",),
        uapsd=("wifi ps_mode WMM",),
        twt=("wifi twt quick_setup 8192 {interval_us}",),
        multiples_only=True,
    ),
    "linux": Driver(
        off=("iw dev wlan0 set power_save off",),
        dtim=("iw dev wlan0 set power_save on",),
        listen=None,
        timeouts_ms=(100, 20, 500),
        timeout=("iwconfig wlan0 power timeout {ms}m",),
        uapsd=None,
    ),
    "brcmfmac": Driver(
        off=("iw dev wlan0 set power_save off",),
        dtim=("iw dev wlan0 set power_save on",),
        listen=None,
        timeouts_ms=(2000,),
        uapsd=None,
    ),
    "generic": Driver(),
}
"""Drivers by their name.

Sources: Espressif's "Introduction to Low Power Mode in Wi-Fi Scenarios", components/esp_wifi/Kconfig and
esp_wifi_he.h (esp-idf); cyw43.h (cyw43-driver); the nRF70 guide "Operating in power save modes" (sdk-nrf) and
the Wi-Fi shell of Zephyr; the page "Dynamic power save" of the Linux Wireless wiki; brcmfmac's cfg80211.c.
"""

_NEW_POLICIES = {
    "anticipate": ("max_ms", 0, 1200),
    "bsd": ("max_sleep_ms", 0, 900),
    "lpsm": ("max_ms", 200, 1200),
}
"""Policies that no driver has: the parameter of the longest doze, its least value and its default, in ms."""


def settings_of(
    name: str, beacon: BeaconParameters, *, has_twt: bool, longest_doze_ms: float | None = None
) -> list[Setting]:
    """Return the settings that a driver offers, and settings that need a new driver or another access point.

    *name* is one of :data:`DRIVERS`, and *beacon* describes the beacons of the access point. *has_twt*
    states whether chip and driver support TWT. *longest_doze_ms* limits the dozes of policies that need a new
    driver; None keeps their defaults.
    """
    driver = DRIVERS[name]
    return [
        Setting("power saving off", "always-on", driver.off, 1),
        *_timeout_settings(driver, beacon.dtim_period),
        *(_uapsd_settings(driver, beacon.dtim_period) if driver.uapsd is not None else []),
        *(_twt_settings(driver) if has_twt else []),
        *_access_point_settings(driver, beacon.dtim_period),
        *_new_settings(1000 * beacon.interval_s, longest_doze_ms),
    ]


def _timeout_settings(driver: Driver, dtim_period: int) -> Iterator[Setting]:
    default_ms = driver.timeouts_ms[0]
    for timeout_ms, interval in product(driver.timeouts_ms, _intervals(driver, dtim_period)):
        is_dtim = interval == dtim_period
        calls = (driver.dtim if is_dtim else driver.listen) or ()
        if timeout_ms != default_ms:
            calls += driver.timeout
        policy, awake = (
            f"dynamic:timeout_ms={timeout_ms},listen_interval={interval}",
            f"{timeout_ms} ms awake",
        )
        if not timeout_ms:
            policy, awake = f"psm:listen_interval={interval}", "static PSM"
        yield Setting(
            f"{'DTIM' if is_dtim else 'listen interval'} {interval} ({awake})",
            policy,
            tuple(call.format(n=interval, **_timeout_fields(timeout_ms)) for call in calls),
            interval,
            is_default=is_dtim and timeout_ms == default_ms and bool(driver.dtim),
        )


def _timeout_fields(timeout_ms: int) -> dict[str, object]:
    """Return ``{ms}`` and ``{pm}`` for a time awake, which PM1 of the CYW43 (static PSM) ignores."""
    mode = f"CYW43_PM2_POWERSAVE_MODE, {timeout_ms}" if timeout_ms else "CYW43_PM1_POWERSAVE_MODE, 10"
    return {"ms": timeout_ms, "pm": mode}


def _intervals(driver: Driver, dtim_period: int) -> list[int]:
    """Return the wake intervals to compare, in beacons: the DTIM period and the listen intervals."""
    if driver.listen is None:
        return [dtim_period]
    multiple = dtim_period * (LISTEN_INTERVALS[-1] // dtim_period)
    candidates = {dtim_period, multiple or dtim_period, *LISTEN_INTERVALS}
    return sorted(
        interval
        for interval in candidates
        if interval == dtim_period
        or (interval <= driver.longest_listen and not (driver.multiples_only and interval % dtim_period))
    )


def _access_point_settings(driver: Driver, dtim_period: int) -> Iterator[Setting]:
    """Yield settings for shorter DTIM periods that no listen interval of the driver replaces.

    They use the driver's shortest time awake.
    """
    shortest = replace(driver, timeouts_ms=(min(driver.timeouts_ms),), listen=None)
    for period in LISTEN_INTERVALS:
        if period < dtim_period and period not in _intervals(driver, dtim_period):
            for setting in _timeout_settings(shortest, period):
                yield replace(setting, wake_beacons=1, is_default=False, needs=ACCESS_POINT)


def _uapsd_settings(driver: Driver, dtim_period: int) -> Iterator[Setting]:
    calls = (*(driver.uapsd or ()), *(call.format(ms=0) for call in driver.timeout))
    yield Setting("U-APSD", f"uapsd:listen_interval={dtim_period}", calls, dtim_period)


def _twt_settings(driver: Driver) -> Iterator[Setting]:
    for exponent in TWT_EXPONENTS:
        twt = Twt(exponent=exponent)
        interval_us = round(1e6 * twt.interval_s)
        calls = tuple(
            call.format(mantissa=twt.mantissa, exponent=exponent, interval_us=interval_us)
            for call in driver.twt
        )
        yield Setting(f"TWT every {twt.interval_s:.1f} s", f"twt:exponent={exponent}", calls, 0)


def _new_settings(beacon_ms: float, longest_doze_ms: float | None) -> Iterator[Setting]:
    """Yield the policies that need a new driver. Each longest doze is a whole number of beacon intervals."""
    for name, (parameter, least_ms, default_ms) in _NEW_POLICIES.items():
        policy = name
        if longest_doze_ms is not None and longest_doze_ms < default_ms:
            doze_ms = beacon_ms * max(1, int(longest_doze_ms / beacon_ms))
            policy = f"{name}:{parameter}={max(least_ms, doze_ms):g}"
        yield Setting(policy, policy, needs=NEW_DRIVER)
