"""Baselines: no power saving, and the power-save mode of the 802.11 standard (static PSM)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from psm_sim.common.parameters import check_all, parameter
from psm_sim.policies.base import Policy, Rest
from psm_sim.poll import Poll


@dataclass
class AlwaysOn(Policy):
    """Policy that never dozes. Slowdowns are relative to its page times."""

    name: ClassVar[str] = "always-on"

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Stay awake."""
        return Rest(awake_s=inf)


@dataclass
class Psm(Policy):
    """Policy that dozes as soon as the link is idle and wakes for every n-th beacon.

    With a listen interval of 1 this is the static PSM of the thesis, section 2.5.4. With a longer interval n,
    as in the Listen Interval field of 802.11, the station wakes for the beacons whose numbers are multiples
    of n, independently of its uplink packets. With ``counted_from=doze``, as in ns-3, each uplink packet
    restarts the interval.
    """

    name: ClassVar[str] = "psm"

    listen_interval: int = parameter(
        1, "wake for every n-th beacon", unit="beacons", at_least=1, at_most=65_535
    )
    counted_from: str = parameter(
        "access-point",
        "beacons that the listen interval counts: those of the access point, or those since the last doze"
        " began, as in ns-3",
        choices=("access-point", "doze"),
        expert=True,
    )

    def __post_init__(self) -> None:
        check_all(self, f"policy {self.name}")
        self._rest = Rest(beacons=self.listen_interval, repeat=True)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until the next beacon of the listen interval."""
        if self.listen_interval == 1 or self.counted_from == "doze":
            return self._rest
        # beacons since the last multiple of the interval
        past = (self.beacon_grid.after(now_s) - 1) % self.listen_interval
        # A shorter first doze realigns the station. Only full dozes are repeated.
        return Rest(beacons=self.listen_interval - past) if past else self._rest
