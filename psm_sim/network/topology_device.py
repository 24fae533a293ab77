"""Parameters of a station: power draw of its radio, and behaviour of its clock and driver."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.common.errors import InputError
from psm_sim.common.parameters import check_all, parameter


@dataclass(frozen=True)
class PowerParameters:
    """Power draw of the radio (thesis, section 2.5.4), and its supply.

    The bounds of 100 W and 100 J exceed the needs of any station's radio, and sums over 1e9 s remain
    printable.
    """

    awake_w: float = parameter(0.75, "power of an awake radio", unit="W", at_least=0, at_most=100)
    asleep_w: float = parameter(
        0.05, "power of a dozing radio, not above awake_w", unit="W", at_least=0, at_most=100
    )
    beacon_j: float = parameter(
        0.0015, "energy to wake for and receive one beacon", unit="J", at_least=0, at_most=100
    )
    transmit_w: float | None = parameter(
        None,
        "power of a transmitting radio; none: same as awake_w",
        unit="W",
        at_least=0,
        at_most=100,
        optional=True,
    )
    wake_j: float = parameter(0.0, "energy to wake up for a transmission", unit="J", at_least=0, at_most=100)
    supply_v: float | None = parameter(
        None, "supply voltage; adds mean_current_ma to the results", unit="V", above=0, at_most=1000,
        optional=True,
    )  # fmt: skip
    battery_mah: float | None = parameter(
        None, "battery capacity; adds battery_days to the results, requires supply_v", unit="mAh", above=0,
        at_most=1e9, optional=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "power")
        if self.asleep_w > self.awake_w:
            raise InputError(
                f"power: asleep_w must not exceed awake_w = {self.awake_w:g}, got {self.asleep_w:g}."
            )

    def check_battery(self) -> None:
        """Raise an error for a battery without a supply voltage.

        This is not part of the construction, because a chip profile may set the voltage later.
        """
        if self.battery_mah is not None and self.supply_v is None:
            raise InputError(
                f"power.battery_mah={self.battery_mah:g} requires a supply voltage; add --profile CHIP or"
                " --set power.supply_v=VOLTS."
            )


@dataclass(frozen=True)
class StationParameters:
    """Behaviour of the station's clock and driver. By default all effects are disabled.

    802.11 allows a clock error of 100 ppm (clause 11.1); RC oscillators are far worse. Stations of ns-3
    listen 5 ms for a missing beacon. An association takes from 0.1 s to several seconds, including the
    security handshake. The default of 1 s is an assumption.
    """

    wake_ms: float = parameter(
        0.0, "time a dozing radio needs before it can transmit", unit="ms", at_least=0, at_most=10_000
    )
    after_miss: str = parameter(
        "next",
        "behaviour after a missed beacon: wake for every beacon until one is received (next), or continue as"
        " if the TIM bit had not been set (rest)",
        choices=("next", "rest"),
    )
    miss_ms: float = parameter(
        5.0, "listening time for a missed beacon", unit="ms", at_least=0, at_most=10_000
    )
    drift_ppm: float = parameter(
        0.0, "clock error: the station wakes earlier by this fraction of its doze", unit="ppm",
        at_least=0, at_most=100_000,
    )  # fmt: skip
    guard_ms: float = parameter(
        0.0, "time by which the station wakes before each beacon", unit="ms", at_least=0, at_most=1000
    )
    listen_rounding: str = parameter(
        "none",
        "rounding of listen intervals to multiples of beacon.dtim_period: none, down (nRF70) or up (Talaria)",
        choices=("none", "down", "up"),
    )
    ps_poll_ms: float = parameter(
        0.0, "channel time to retrieve one buffered frame (PS-Poll and its ACK)", unit="ms", at_least=0,
        at_most=1000,
    )  # fmt: skip
    keep_alive_s: float | None = parameter(
        None, "maximum idle time of the station; a null data frame of 28 B then keeps the association",
        unit="s", above=0, at_most=1e9, optional=True,
    )  # fmt: skip
    association_ms: float = parameter(
        1000.0, "time to associate again after the association has expired", unit="ms", at_least=0,
        at_most=1e6,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "station")
