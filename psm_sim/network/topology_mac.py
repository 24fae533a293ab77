"""MAC of a topology in numbers: how the station and the access point share the air."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.errors import InputError
from psm_sim.parameters import check_all, parameter

RATES_MBPS: dict[str, tuple[float, ...]] = {
    "802.11b": (1.0, 2.0, 5.5, 11.0),
    "802.11g": (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0),
    "802.11n": (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0),
}
"""Bit rates of data frames; 802.11n's with one spatial stream in 20 MHz and the long guard interval."""


@dataclass(frozen=True)
class MacParameters:
    """The medium access of 802.11; with ``model`` at ``link`` nothing else here is used.

    Times that the standard fixes are no parameters: they stand in ``network/frame_timing.py``. Windows are one
    less than a power of two, at most 1023 (802.11-2020, 10.3.3); 128 is twice Linux's largest retry limit.
    A beacon has at least a header, a timestamp and a rate set, and a frame at most 2,346 B.
    """

    model: str = parameter(
        "link",
        "how frames reach the station: over a full-duplex link of links.wireless, as in the papers; or over"
        " the air that both directions share by the rules of 802.11 (dcf), and then links.wireless is unused",
        choices=("link", "dcf"),
    )
    standard: str = parameter("802.11b", "rates, slot and preamble of the air", choices=tuple(RATES_MBPS))
    data_mbps: float | None = parameter(
        None, "bit rate of data frames, one of the standard's; none: its highest", unit="Mbit/s", at_least=1,
        at_most=65, optional=True,
    )  # fmt: skip
    control_mbps: float | None = parameter(
        None, "bit rate of ACKs; none: 2 with 802.11b, else the highest of 6, 12 and 24; never"
        " above that of data", unit="Mbit/s", at_least=1, at_most=54, optional=True,
    )  # fmt: skip
    poll_mbps: float | None = parameter(
        None, "bit rate of PS-Polls; none: that of data, as in ns-3; the standard asks for a basic rate",
        unit="Mbit/s", at_least=1, at_most=54, optional=True,
    )  # fmt: skip
    beacon_mbps: float | None = parameter(
        None, "bit rate of beacons; none: 1 with 802.11b, else 6", unit="Mbit/s", at_least=1, at_most=54,
        optional=True,
    )  # fmt: skip
    beacon_bytes: int = parameter(
        84, "size of a beacon, header and frame check included: timestamp, a name of 7 letters, rates, TIM,"
        " channel, access categories", unit="B", at_least=50, at_most=2346,
    )  # fmt: skip
    preamble: str = parameter("long", "preamble of 802.11b above 1 Mbit/s", choices=("long", "short"))
    qos: bool = parameter(
        True, "data frames of access category best effort, after SIFS and 3 slots; false: after a DIFS"
    )
    cw_min: int | None = parameter(
        None, "least contention window; none: 31 with 802.11b, else 15", unit="slots", at_least=0,
        at_most=1023, optional=True, kind=int,
    )  # fmt: skip
    cw_max: int = parameter(1023, "largest contention window", unit="slots", at_least=0, at_most=1023)
    retry_limit: int = parameter(
        7, "times that a frame is sent again before it is lost", at_least=0, at_most=128
    )
    fetch: str = parameter(
        "ps-poll",
        "how a station gets what a beacon announces: a PS-Poll for each frame, answered after a SIFS; or a"
        " null frame that says it is awake, after which frames come as to any station",
        choices=("ps-poll", "null"),
    )
    poll_first: bool = parameter(
        True, "a PS-Poll goes before the data that the station wants to send, as in ns-3"
    )
    seed: int = parameter(1, "seed of the backoffs", at_least=0, at_most=2**32 - 1)

    def __post_init__(self) -> None:
        check_all(self, "mac")
        for name in ("data_mbps", "control_mbps", "poll_mbps", "beacon_mbps"):
            _check_rate(self, name)
        if self.cw_min is not None and self.cw_min > self.cw_max:
            raise InputError(
                f"mac: cw_min is {self.cw_min}; expected at most cw_max, which is {self.cw_max}."
            )


def _check_rate(mac: MacParameters, name: str) -> None:
    """Refuse a rate that the standard does not have; control frames and beacons of 802.11n are 802.11g's."""
    given = getattr(mac, name)
    older = name != "data_mbps" and mac.standard == "802.11n"
    standard = "802.11g" if older else mac.standard
    if given is not None and given not in RATES_MBPS[standard]:
        known = ", ".join(f"{rate:g}" for rate in RATES_MBPS[standard])
        raise InputError(f"mac: {name} is {given:g}; expected a rate of {standard}: {known}.")
