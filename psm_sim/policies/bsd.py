"""Bounded Slowdown policy of Krashinsky and Balakrishnan (MobiCom 2002)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from psm_sim.common.input_limits import MAX_MS, MAX_TIME_S
from psm_sim.common.parameters import check_all, parameter
from psm_sim.policies.base import Policy, Rest
from psm_sim.poll import Poll

_MAX_BEACONS = 10**9
"""Longest doze in beacons if ``max_sleep_ms`` is none: three years at 100 ms."""


@dataclass
class Bsd(Policy):
    """Policy that bounds the slowdown of a reply by 1 + p (Bounded Slowdown).

    A doze that begins e seconds after the last uplink packet lasts at most p e seconds. The radio therefore
    stays awake for T / p after a packet, where T is the beacon interval. A doze ends at the last beacon, b
    seconds after the packet, with b <= (1 + p) e and b - e <= ``max_sleep_ms``.

    The bound holds at every beacon phase and for every ``max_sleep_ms`` if a packet sent from a doze also
    retrieves the buffered frames. Two topology settings break this condition, so that a reply can take
    longer. With ``access_point.release_on_uplink=false`` the packet sets e to 0, although the reply to an
    earlier packet is still buffered. With ``access_point.late_frames=wait`` the access point buffers frames
    although the station is awake.
    """

    name: ClassVar[str] = "bsd"

    p: float = parameter(1.0, "bound on the slowdown of a round trip, minus 1", above=0, at_most=1e6)
    max_sleep_ms: float | None = parameter(
        900.0,
        "longest doze; the default is just below TCP's minimum timeout of 1 s",
        unit="ms",
        above=0,
        at_most=MAX_MS,
    )

    def __post_init__(self) -> None:
        check_all(self, "policy bsd")

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze as long as the bound allows."""
        wait_s = max(0.0, self.beacon_s / self.p - since_uplink_s)
        if wait_s > MAX_TIME_S:
            return Rest(math.inf)
        doze_s, since_s = now_s + wait_s, since_uplink_s + wait_s
        allowed_s, longest_s = self.p * since_s, self._longest_s
        beacons = self._beacons_within(doze_s, min(allowed_s, longest_s))
        if beacons < 1:
            return self._wait_for_next(doze_s, since_s, wait_s)
        # From now on max_sleep_ms alone limits the doze, so every further doze is the same.
        is_constant = allowed_s >= longest_s and not wait_s and self.beacon_grid.on(now_s)
        return Rest(wait_s, beacons, repeat=is_constant)

    @property
    def _longest_s(self) -> float:
        return self.beacon_grid.time(_MAX_BEACONS) if self.max_sleep_ms is None else self.max_sleep_ms / 1000

    def _beacons_within(self, doze_s: float, length_s: float) -> int:
        """Return the number of beacons in the *length_s* seconds after *doze_s*."""
        return self.beacon_grid.after(doze_s + length_s) - self.beacon_grid.after(doze_s)

    def _wait_for_next(self, doze_s: float, since_uplink_s: float, waited_s: float) -> Rest:
        """Stay awake until p and ``max_sleep_ms`` allow a doze to the next beacon.

        A doze that ends b seconds after the uplink packet must not begin earlier than b / (1 + p) seconds
        after the packet. *waited_s* is the time awake until *doze_s*.
        """
        until_beacon_s = self.beacon_grid.time(self.beacon_grid.after(doze_s)) - doze_s
        legal_s = (since_uplink_s + until_beacon_s) / (1 + self.p) - since_uplink_s
        wait_s = max(legal_s, until_beacon_s - self._longest_s)
        return Rest(waited_s + wait_s, 1)
