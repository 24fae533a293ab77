"""Static PSM: the power-save mode of the 802.11 standard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Policy, Rest
from psm_sim.poll import Poll


@dataclass
class Psm(Policy):
    """Doze as soon as the link is idle, and wake for every ``listen_interval``-th beacon.

    With a listen interval of 1 this is the static PSM of the thesis, section 2.5.4. A longer one counts the
    access point's beacons, as the Listen Interval field of 802.11 does: the station wakes for those whose
    numbers it divides, whatever it sends in between.
    """

    name: ClassVar[str] = "psm"

    listen_interval: int = parameter(
        1, "wake for the beacons whose numbers it divides", unit="beacons", at_least=1, at_most=65_535
    )

    def __post_init__(self) -> None:
        check_all(self, "policy psm")
        self._begin()

    def start(self, beacon_s: float) -> None:
        """Begin with the listen interval as the station rounds it."""
        super().start(beacon_s)
        self._begin()

    def _begin(self) -> None:
        self._interval = self.dtim.interval(self.listen_interval)
        self._rest = Rest(beacons=self._interval, repeat=True)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until the next beacon to be heard."""
        if self._interval == 1:
            return self._rest
        past = (self.beacon_grid.after(now_s) - 1) % self._interval  # since the last one to be heard
        # A shorter doze is not repeated: from the beacon at its end on, full ones are.
        return Rest(beacons=self._interval - past) if past else self._rest
