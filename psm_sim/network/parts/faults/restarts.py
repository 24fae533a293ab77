"""Restarts of the access point, which lose buffered frames, frames in transmission and the association."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from simpy import Environment

from psm_sim.network.parts.faults.outages import OutageSchedule
from psm_sim.network.timers import Alarm


class ForgetfulHop(Protocol):
    """Wireless hop whose access point can restart."""

    def forget(self, back_s: float) -> int:
        """Discard association and buffered frames. Return the number of frames on the downlink.

        The access point is back at *back_s* seconds.
        """


class Restarts:
    """Restarts of one access point; ``number`` counts them.

    During a restart the access point forwards no frames in either direction. The beacon times do not change,
    and a dozing station still spends energy on the beacons for which it wakes.

    Parameters
    ----------
    env, outages
        The clock, and the times of the restarts.
    hop
        Wireless hop whose state is lost.
    on_return
        Called when the access point is back.
    """

    def __init__(
        self,
        env: Environment,
        outages: OutageSchedule,
        hop: ForgetfulHop,
        on_return: Callable[[], None],
    ) -> None:
        self._outages, self._hop, self._on_return = outages, hop, on_return
        self._down_alarm, self._up_alarm = Alarm(env, self._go_down), Alarm(env, self._come_up)
        self._doomed = 0
        self._down = False
        self.number = 0
        self._down_alarm.at(outages.begins_s)

    def takes_uplink(self) -> bool:
        """Return whether an uplink frame that reaches the access point now is lost."""
        return self._down

    def takes_downlink(self) -> bool:
        """Return whether a downlink frame that would reach the station now was lost in the queue."""
        doomed = self._doomed > 0
        self._doomed -= doomed
        return doomed

    def _go_down(self) -> None:
        self.number += 1
        self._down, self._doomed = True, self._hop.forget(self._outages.ends_s)
        self._up_alarm.at(self._outages.ends_s)

    def _come_up(self) -> None:
        self._down = False
        self._outages.next()
        self._down_alarm.at(self._outages.begins_s)
        self._on_return()
