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

    With a listen interval of 1 this is the static PSM of the thesis, section 2.5.4.
    """

    name: ClassVar[str] = "psm"

    listen_interval: int = parameter(1, "hear one beacon in this many", unit="beacons", at_least=1)

    def __post_init__(self) -> None:
        check_all(self, "policy psm")
        self._rest = Rest(beacons=self.listen_interval, repeat=True)

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until the next beacon to be heard."""
        return self._rest
