"""Station of a topology in numbers: what its radio draws, and how its clock and driver behave."""

from __future__ import annotations

from dataclasses import dataclass

from psm_sim.errors import InputError
from psm_sim.parameters import check_all, parameter


@dataclass(frozen=True)
class PowerParameters:
    """What the radio draws (thesis, section 2.5.4), and from what.

    100 W and 100 J are more than any station's radio takes, and sums over 1e9 s still print.
    """

    awake_w: float = parameter(0.75, "power of an awake radio", unit="W", at_least=0, at_most=100)
    asleep_w: float = parameter(
        0.05, "power of a dozing radio, not above awake_w", unit="W", at_least=0, at_most=100
    )
    beacon_j: float = parameter(
        0.0015, "energy to wake for one beacon and hear it", unit="J", at_least=0, at_most=100
    )
    transmit_w: float | None = parameter(
        None, "power while it transmits; none: awake_w", unit="W", at_least=0, at_most=100, optional=True
    )
    wake_j: float = parameter(0.0, "energy to wake for sending", unit="J", at_least=0, at_most=100)
    supply_v: float | None = parameter(
        None, "supply voltage; with it results have mean_current_ma", unit="V", above=0, at_most=1000,
        optional=True,
    )  # fmt: skip
    battery_mah: float | None = parameter(
        None, "charge of the battery; with it and supply_v results have battery_days", unit="mAh", above=0,
        at_most=1e9, optional=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "power")
        if self.asleep_w > self.awake_w:
            raise InputError(
                f"power: asleep_w is {self.asleep_w:g}; expected at most awake_w, which is {self.awake_w:g}."
            )

    def check_battery(self) -> None:
        """Refuse a battery without a supply voltage; apart, since a profile may bring the voltage later."""
        if self.battery_mah is not None and self.supply_v is None:
            raise InputError(
                f"power.battery_mah is {self.battery_mah:g}, but the supply voltage is not known; add"
                " --profile CHIP or --set power.supply_v=VOLTS."
            )


@dataclass(frozen=True)
class StationParameters:
    """How the station's clock and driver behave, beside its policy; all of it off by default.

    802.11 allows a clock 100 ppm of error (clause 11.1); RC oscillators are far worse. 5 ms are what ns-3
    stations listen for a beacon that does not come. An association takes from 0.1 s to several seconds,
    with its security handshake; 1 s is assumed.
    """

    wake_ms: float = parameter(
        0.0, "time from a doze until the radio can send", unit="ms", at_least=0, at_most=10_000
    )
    after_miss: str = parameter(
        "next",
        "what a station does that has missed a beacon: wake for every beacon until one is heard; or rest as"
        " if it had named nobody",
        choices=("next", "rest"),
    )
    miss_ms: float = parameter(
        5.0, "time it listens for a beacon that it misses", unit="ms", at_least=0, at_most=10_000
    )
    drift_ppm: float = parameter(
        0.0, "error of its clock: it wakes for a beacon earlier by this share of its doze", unit="ppm",
        at_least=0, at_most=100_000,
    )  # fmt: skip
    guard_ms: float = parameter(
        0.0, "time by which it wakes earlier for any beacon", unit="ms", at_least=0, at_most=1000
    )
    listen_rounding: str = parameter(
        "none",
        "how a listen interval becomes a multiple of beacon.dtim_period: not at all, down (nRF70) or up"
        " (Talaria)",
        choices=("none", "down", "up"),
    )
    ps_poll_ms: float = parameter(
        0.0, "time on the air to fetch one held frame (PS-Poll and its ACK)", unit="ms", at_least=0,
        at_most=1000,
    )  # fmt: skip
    keep_alive_s: float | None = parameter(
        None, "longest time without a frame sent; then a null frame of 28 B keeps the association", unit="s",
        above=0, at_most=1e9, optional=True,
    )  # fmt: skip
    association_ms: float = parameter(
        1000.0, "time to associate anew once the access point has forgotten it", unit="ms", at_least=0,
        at_most=1e6,
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_all(self, "station")
