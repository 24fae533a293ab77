"""Bounded Slowdown (Krashinsky and Balakrishnan, MobiCom 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf
from typing import ClassVar

from psm_sim.beacons import beacon_after
from psm_sim.parameters import check_all, parameter
from psm_sim.policies.base import Policy, Rest
from psm_sim.poll import Poll

_SLACK_S = 1e-9
"""What floating point may take from a comparison of times."""


@dataclass
class Bsd(Policy):
    """Never let a reply take more than (1 + p) times as long as without power saving.

    With e the time since the last uplink packet, a doze begun at e may last at most p e. So the radio
    stays awake T / p after a packet, T being the beacon interval, and then dozes until the latest beacon
    b with b <= (1 + p) e and b - e <= ``max_sleep_ms``.
    """

    name: ClassVar[str] = "bsd"

    p: float = parameter(1.0, "bound on the slowdown of a round trip, minus one", above=0)
    max_sleep_ms: float | None = parameter(
        900.0, "longest doze, just under TCP's least timeout of 1 s", unit="ms", above=0, optional=True
    )

    def __post_init__(self) -> None:
        check_all(self, "policy bsd")

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze as long as the bound allows."""
        wait_s = max(0.0, self.beacon_s / self.p - since_uplink_s)
        beacons = self._beacons(now_s + wait_s, since_uplink_s + wait_s)
        if beacons < 1:
            return self._wait_for_next(now_s + wait_s, since_uplink_s + wait_s, wait_s)
        settled = beacons == self._beacons_of(self._longest_s) and self._on_beacon(now_s) and not wait_s
        return Rest(wait_s, beacons, repeat=settled)

    @property
    def _longest_s(self) -> float:
        return inf if self.max_sleep_ms is None else self.max_sleep_ms / 1000

    def _beacons(self, doze_s: float, since_uplink_s: float) -> int:
        """Return how many beacons may go by, the one to wake for included; 0 if not even one."""
        allowed_s = min(self.p * since_uplink_s, self._longest_s)
        first_s = beacon_after(doze_s, self.beacon_s) * self.beacon_s - doze_s
        return 1 + self._beacons_of(allowed_s - first_s)

    def _beacons_of(self, length_s: float) -> int:
        return int(min(floor((length_s + _SLACK_S) / self.beacon_s), 10**9)) if length_s < inf else -1

    def _on_beacon(self, now_s: float) -> bool:
        return abs(now_s - round(now_s / self.beacon_s) * self.beacon_s) < _SLACK_S

    def _wait_for_next(self, doze_s: float, since_uplink_s: float, waited_s: float) -> Rest:
        """Stay awake until a doze to the next beacon b is legal, from b / (1 + p), and short enough."""
        ahead_s = beacon_after(doze_s, self.beacon_s) * self.beacon_s - doze_s
        legal_s = (since_uplink_s + ahead_s) / (1 + self.p) - since_uplink_s
        wait_s = max(legal_s, ahead_s - self._longest_s)
        return Rest(waited_s + wait_s, 1)
