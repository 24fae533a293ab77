"""Individual target wake time (TWT) agreement of 802.11ax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.common.errors import InputError
from psm_sim.common.parameters import check_all, parameter
from psm_sim.policies.base import Policy, Rest, ServicePeriod
from psm_sim.poll import Poll

MAX_INTERVAL_S = 0x7FFFFFFF / 1e6
"""Longest wake interval that access points accept, 2^31 - 1 us (esp-idf, issue 11797)."""


@dataclass
class Twt(Policy):
    """Policy that wakes for the service periods of a target wake time agreement (TWT).

    The agreement is implicit and individual (IEEE 802.11ax-2021, 9.4.2.199 and 26.8). A period begins every
    mantissa x 2^exponent us and has a minimum duration. The station receives no beacons and misses group
    addressed frames. Buffered frames are delivered only within a period, and only if they fit before its end.

    With ``uplink=send`` the station wakes at once to send, as in PSM, but nothing is delivered then. With
    ``uplink=wait`` it sends within periods only. A station that is still sending when a period begins misses
    that period.

    The radio is also awake for ``startup_ms`` before and ``tail_ms`` after each period. With the defaults a
    period of 8.192 ms costs 15 ms at 58 mA, as measured for the nRF7002 (450 uA at an interval of 2.007 s).
    The tail of 2.25 ms is the value for the ST67W611M1 (wiki.st.com, "Wi-Fi 6 Target Wake Time").
    """

    name: ClassVar[str] = "twt"

    mantissa: int = parameter(512, "mantissa of the wake interval, in us", at_least=1, at_most=65_535)
    exponent: int = parameter(12, "power of two by which the mantissa is multiplied", at_least=0, at_most=31)
    duration: int = parameter(32, "minimum wake duration, in units (see unit_tu)", at_least=1, at_most=255)
    unit_tu: bool = parameter(False, "unit of the duration: 1.024 ms if true, else 256 us")
    announced: bool = parameter(
        False,
        "whether the station must send a frame before delivery, as an announcement or answer to a trigger",
        expert=True,
    )
    early_end: bool = parameter(
        False, "whether to doze as soon as no frame is buffered, not at the end of the duration", expert=True
    )
    sends: str = parameter(
        "send", "send uplink packets at once, or wait for a period", choices=("send", "wait"), name="uplink"
    )
    startup_ms: float = parameter(
        4.6, "time awake before each period", unit="ms", at_least=0, at_most=1000, expert=True
    )
    tail_ms: float = parameter(
        2.25, "time awake after each period", unit="ms", at_least=0, at_most=1000, expert=True
    )

    def __post_init__(self) -> None:
        check_all(self, "policy twt")
        if self.duration_s > self.interval_s:
            raise InputError(
                f"policy twt: the duration must be at most the wake interval ({self.interval_s:g} s),"
                f" got {self.duration_s:g} s."
            )
        if self.interval_s > MAX_INTERVAL_S:
            raise InputError(
                f"policy twt: the wake interval must be at most {MAX_INTERVAL_S:g} s, "
                f"got {self.interval_s:g} s."
            )

    @property
    def interval_s(self) -> float:
        """Wake interval, in seconds."""
        return self.mantissa * 2.0**self.exponent / 1e6

    @property
    def duration_s(self) -> float:
        """Minimum wake duration, in seconds."""
        return self.duration * (1.024e-3 if self.unit_tu else 256e-6)

    @property
    def service(self) -> ServicePeriod:
        """Rules of the scheduled service periods."""
        overhead_s = (self.startup_ms + self.tail_ms) / 1000
        waits = self.sends == "wait"
        return ServicePeriod(self.interval_s, self.duration_s, 0, self.announced, overhead_s, waits)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Stay awake until the end of the current period, and doze until the next."""
        if self.early_end:
            return Rest(repeat=True)
        period_start_s = self.beacon_grid.time(self.beacon_grid.after(now_s) - 1)
        return Rest(max(0.0, period_start_s + self.duration_s - now_s)) if period_start_s > 0 else Rest()
