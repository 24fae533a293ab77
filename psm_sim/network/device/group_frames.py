"""Group frames: ARP, mDNS and the like; the access point sends them after a DTIM beacon."""

from __future__ import annotations

from typing import Protocol

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.network.link import Link
from psm_sim.network.monitored_link import SniffedLink
from psm_sim.network.segment import GROUP, Segment
from psm_sim.network.timers import WITH_DTIM, Alarm
from psm_sim.network.topology_sections import AccessPointParameters
from psm_sim.random_streams import random_stream


class GroupFrameListener(Protocol):
    """Hearer of group frames: the radio of a station."""

    def hears_group(self, number: int, frames: int) -> bool:
        """Say whether it is awake for the *frames* after the DTIM beacon of that *number*; if so it waits."""


class GroupFrames:
    """Group frames of one access point: memoryless arrivals, held until the next DTIM beacon.

    ``sent`` counts them, ``missed`` those sent while the station slept through their DTIM beacon or lost it.

    Parameters
    ----------
    env, beacons
        The clock, and the beacons of the access point.
    dtim_period
        Beacons from one DTIM beacon to the next.
    parameters
        Rate and size of the frames.
    link, hearer
        The link that they are sent on, and the radio that may hear them.
    seed
        The seed of their times.
    """

    def __init__(
        self,
        env: Environment,
        beacons: Beacons,
        dtim_period: int,
        parameters: AccessPointParameters,
        link: Link,
        hearer: GroupFrameListener,
        seed: int,
    ) -> None:
        self._beacons, self._period, self._link, self._hearer = beacons, dtim_period, link, hearer
        self._mean_s, self._bytes = 1 / parameters.group_per_s, parameters.group_bytes
        self._random = random_stream(seed, "network.group frames")
        self._alarm = Alarm(env, self._send, WITH_DTIM)
        self._next_s = float(self._random.exponential(self._mean_s))
        self.sent = self.missed = self._waiting = self._number = 0
        self._plan()

    def _plan(self) -> None:
        """Draw what waits at the next DTIM beacon before which anything comes, and plan to send it."""
        beacon = self._beacons.after(self._next_s)
        self._number = -(-beacon // self._period) * self._period
        due_s = self._beacons.time(self._number)
        while self._next_s < due_s:
            self._waiting += 1
            self._next_s += float(self._random.exponential(self._mean_s))
        self._alarm.at(due_s)

    def _send(self) -> None:
        waiting, self._waiting = self._waiting, 0
        self.sent += waiting
        if self._hearer.hears_group(self._number, waiting):
            for _ in range(waiting):
                self._link.send(self._frame())
        else:
            self.missed += waiting
            if isinstance(self._link, SniffedLink):
                self._link.unheard(self._frame(), waiting)
        self._plan()

    def _frame(self) -> Segment:
        return Segment(GROUP, 0, self._bytes - 40, 0, False, False, self._bytes)
