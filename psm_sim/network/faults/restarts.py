"""Restarts of the access point: what it held, what it was sending, and the association are lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from simpy import Environment

from psm_sim.network.faults.outages import OutageSchedule
from psm_sim.network.timers import Alarm


class ForgetfulHop(Protocol):
    """Hop whose access point can start anew."""

    def forget(self, back_s: float) -> int:
        """Lose the association and what is held until *back_s*; return how many frames are lost thereby."""


class Restarts:
    """Restarts, at times that depend on the seed alone; ``number`` counts them.

    While it is down, nothing passes the access point either way. Beacons keep their grid, and a dozing
    station pays for those it wakes for as ever.

    Parameters
    ----------
    env, spells
        The clock, and when the access point is down.
    hop
        Loses the association and what is held, and says how many frames are on their way to the station.
    returned
        Called when the access point is back.
    """

    def __init__(
        self,
        env: Environment,
        spells: OutageSchedule,
        hop: ForgetfulHop,
        returned: Callable[[], None],
    ) -> None:
        self._spells, self._hop, self._returned = spells, hop, returned
        self._falls, self._rises = Alarm(env, self._go_down), Alarm(env, self._come_up)
        self._doomed = 0
        self._down = False
        self.number = 0
        self._falls.at(spells.begins_s)

    def takes_uplink(self) -> bool:
        """Say whether a frame that reaches the access point from the station is lost."""
        return self._down

    def takes_downlink(self) -> bool:
        """Say whether a frame that would now reach the station is one that was lost in the queue."""
        doomed = self._doomed > 0
        self._doomed -= doomed
        return doomed

    def _go_down(self) -> None:
        self.number += 1
        self._down, self._doomed = True, self._hop.forget(self._spells.ends_s)
        self._rises.at(self._spells.ends_s)

    def _come_up(self) -> None:
        self._down = False
        self._spells.next()
        self._falls.at(self._spells.begins_s)
        self._returned()
