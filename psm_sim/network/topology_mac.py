"""Parameters of the MAC layer, with which stations and access point share the channel."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.common.errors import InputError
from psm_sim.common.parameters import check_all, parameter

RATES_MBPS: dict[str, tuple[float, ...]] = {
    "802.11b": (1.0, 2.0, 5.5, 11.0),
    "802.11g": (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0),
    "802.11n": (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0),
}
"""Bit rates of data frames; those of 802.11n for one spatial stream, 20 MHz and the long guard interval."""


@dataclass(frozen=True)
class MacParameters:
    """Medium access of 802.11. With ``model = "link"`` the other parameters have no effect.

    Times that the standard fixes are in :mod:`psm_sim.network.parts.frame_timing`. Contention windows are one less
    than a power of two, at most 1023 (802.11-2020, 10.3.3). A retry limit of 128 is twice the maximum of
    Linux. A beacon has at least a header, a timestamp and a rate set. A frame has at most 2,346 B.
    """

    model: str = parameter(
        "link",
        "model of the wireless hop: link (full-duplex link with the parameters links.wireless, as in the"
        " papers) or dcf (802.11 channel shared by both directions; links.wireless has no effect)",
        choices=("link", "dcf"),
    )
    standard: str = parameter(
        "802.11b", "802.11 standard: rates, slot time and preamble", choices=tuple(RATES_MBPS)
    )
    data_mbps: float | None = parameter(
        None, "bit rate of data frames; none: highest rate of the standard", unit="Mbit/s", at_least=1,
        at_most=65, optional=True,
    )  # fmt: skip
    control_mbps: float | None = parameter(
        None, "bit rate of ACKs; none: 2 with 802.11b, else the highest of 6, 12 and 24; at most the"
        " rate of data frames", unit="Mbit/s", at_least=1, at_most=54, optional=True,
    )  # fmt: skip
    poll_mbps: float | None = parameter(
        None, "bit rate of PS-Polls; none: rate of data frames, as in ns-3 (the standard requires a basic"
        " rate)", unit="Mbit/s", at_least=1, at_most=54, optional=True,
    )  # fmt: skip
    beacon_mbps: float | None = parameter(
        None, "bit rate of beacons; none: 1 with 802.11b, else 6", unit="Mbit/s", at_least=1, at_most=54,
        optional=True,
    )  # fmt: skip
    beacon_bytes: int = parameter(
        84, "size of a beacon, including header and frame check sequence; the default has timestamp, SSID of"
        " 7 letters, rates, TIM, channel and access categories", unit="B", at_least=50, at_most=2346,
    )  # fmt: skip
    preamble: str = parameter("long", "preamble of 802.11b above 1 Mbit/s", choices=("long", "short"))
    qos: bool = parameter(
        True, "data frames wait SIFS and 3 slots (access category best effort); false: they wait a DIFS"
    )
    cw_min: int | None = parameter(
        None, "minimum contention window; none: 31 with 802.11b, else 15", unit="slots", at_least=0,
        at_most=1023, optional=True, kind=int,
    )  # fmt: skip
    cw_max: int = parameter(1023, "maximum contention window", unit="slots", at_least=0, at_most=1023)
    retry_limit: int = parameter(
        7, "number of retransmissions before a frame is lost", at_least=0, at_most=128
    )
    fetch: str = parameter(
        "ps-poll",
        "how a station retrieves buffered frames: ps-poll (a PS-Poll for each frame, answered after a SIFS)"
        " or null (a null data frame with PM = 0, after which frames are sent as to an awake station)",
        choices=("ps-poll", "null"),
    )
    poll_first: bool = parameter(True, "send PS-Polls before queued data frames of the station, as in ns-3")
    seed: int = parameter(1, "seed of the backoffs", at_least=0, at_most=2**32 - 1)

    def __post_init__(self) -> None:
        check_all(self, "mac")
        for name in ("data_mbps", "control_mbps", "poll_mbps", "beacon_mbps"):
            _check_rate(self, name)
        if self.cw_min is not None and self.cw_min > self.cw_max:
            raise InputError(f"mac: cw_min must not exceed cw_max = {self.cw_max}, got {self.cw_min}.")


def _check_rate(mac: MacParameters, name: str) -> None:
    """Raise an error for a rate that the standard does not define.

    Control frames and beacons of 802.11n are sent at the rates of 802.11g.
    """
    rate_mbps = getattr(mac, name)
    legacy = name != "data_mbps" and mac.standard == "802.11n"
    standard = "802.11g" if legacy else mac.standard
    if rate_mbps is not None and rate_mbps not in RATES_MBPS[standard]:
        valid = ", ".join(f"{rate:g}" for rate in RATES_MBPS[standard])
        raise InputError(f"mac: {name} must be a rate of {standard} ({valid}), got {rate_mbps:g}.")
