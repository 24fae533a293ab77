"""TWT: an individual target-wake-time agreement of 802.11ax; the station hears no beacons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.errors import InputError
from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Policy, Rest
from psm_sim.policies.service_period import ServicePeriod
from psm_sim.poll import Poll

MAX_S = 0x7FFFFFFF / 1e6
"""The longest wake interval that access points accept: 2^31 - 1 us (esp-idf, issue 11797)."""


@dataclass
class Twt(Policy):
    """Wake for agreed service periods: every mantissa x 2^exponent us, for at least a minimum duration.

    IEEE 802.11ax-2021, 9.4.2.199 and 26.8, an implicit individual agreement. Frames are delivered in these
    periods only, and none that would not be sent before their end. A station of ``uplink=send`` wakes at once
    to send, as in PSM, but nothing is delivered then; one of ``wait`` sends in its periods only. Group frames
    are missed. A station that is still sending when a period begins misses it.

    Start-up and tail are awake time that the agreement does not name. The defaults make the 15 ms of 58 mA
    that a nRF7002 takes for periods of 8.192 ms (450 uA at 2.007 s), split as by ST: 2.25 ms of tail.
    """

    name: ClassVar[str] = "twt"

    mantissa: int = parameter(512, "mantissa of the wake interval", at_least=1, at_most=65_535)
    exponent: int = parameter(12, "exponent of the wake interval, to 2, in us", at_least=0, at_most=31)
    duration: int = parameter(32, "minimum wake duration, in units", at_least=1, at_most=255)
    unit_tu: bool = parameter(False, "whether the unit of the duration is 1.024 ms; else 256 us")
    announced: bool = parameter(False, "the station must announce itself before it gets anything")
    triggered: bool = parameter(False, "the access point triggers it, and the station must answer first")
    early_end: bool = parameter(False, "doze as soon as nothing is held, not at the end of the duration")
    sends: str = parameter(
        "send", "send at once, or wait for a period", choices=("send", "wait"), name="uplink"
    )
    startup_ms: float = parameter(4.6, "time awake before each period", unit="ms", at_least=0, at_most=1000)
    tail_ms: float = parameter(2.25, "time awake after each period", unit="ms", at_least=0, at_most=1000)

    def __post_init__(self) -> None:
        check_all(self, "policy twt")
        if self.duration_s > self.interval_s:
            raise InputError(
                f"policy twt: the duration is {self.duration_s:g} s; expected at most the wake interval,"
                f" which is {self.interval_s:g} s."
            )
        if self.interval_s > MAX_S:
            raise InputError(
                f"policy twt: the wake interval is {self.interval_s:g} s; expected at most {MAX_S:g} s."
            )

    @property
    def interval_s(self) -> float:
        """The wake interval in seconds."""
        return self.mantissa * 2.0**self.exponent / 1e6

    @property
    def duration_s(self) -> float:
        """The minimum wake duration in seconds."""
        return self.duration * (1.024e-3 if self.unit_tu else 256e-6)

    @property
    def service(self) -> ServicePeriod:
        """Return the agreement."""
        asks = self.announced or self.triggered
        overhead_s = (self.startup_ms + self.tail_ms) / 1000
        return ServicePeriod(self.interval_s, self.duration_s, 0, asks, overhead_s, self.sends == "wait")

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Stay awake to the end of the period, if it is one, and doze until the next."""
        if self.early_end:
            return Rest(repeat=True)
        begun_s = self.beacon_grid.time(self.beacon_grid.after(now_s) - 1)
        return Rest(max(0.0, begun_s + self.duration_s - now_s)) if begun_s > 0 else Rest()
