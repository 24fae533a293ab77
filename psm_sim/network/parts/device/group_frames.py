"""Group addressed frames (ARP, mDNS), which the access point sends after a DTIM beacon."""

from __future__ import annotations

from typing import Protocol

from simpy import Environment

from psm_sim.beacons import Beacons
from psm_sim.common.random_streams import random_stream
from psm_sim.network.link import Link
from psm_sim.network.segment import GROUP, Segment
from psm_sim.network.sniffed_link import SniffedLink
from psm_sim.network.timers import WITH_DTIM, Alarm
from psm_sim.network.topology_sections import AccessPointParameters


class GroupFrameListener(Protocol):
    """Receiver of group addressed frames: the radio of a station."""

    def accepts_group(self, number: int, frames: int) -> bool:
        """Return whether the radio receives the *frames* after DTIM beacon *number*.

        If it does, it stays awake for them.
        """


class GroupFrames:
    """Group addressed frames of one access point, a Poisson process buffered until the next DTIM beacon.

    Parameters
    ----------
    env, beacons
        The clock, and the beacons of the access point.
    dtim_period
        DTIM period in beacons.
    parameters
        Rate and size of the frames.
    link, listener
        Link that carries the frames, and radio that may receive them.
    seed
        Seed of the arrival times.

    Attributes
    ----------
    sent, missed : int
        Number of frames sent, and number of those that the station missed because it slept through the DTIM
        beacon or lost it.
    """

    def __init__(
        self,
        env: Environment,
        beacons: Beacons,
        dtim_period: int,
        parameters: AccessPointParameters,
        link: Link,
        listener: GroupFrameListener,
        seed: int,
    ) -> None:
        self._beacons, self._period, self._link, self._listener = beacons, dtim_period, link, listener
        self._mean_s, self._bytes = 1 / parameters.group_per_s, parameters.group_bytes
        self._random = random_stream(seed, "network.group frames")
        self._alarm = Alarm(env, self._send, WITH_DTIM)
        self._next_s = float(self._random.exponential(self._mean_s))
        self.sent = self.missed = self._waiting = self._number = 0
        self._plan()

    def _plan(self) -> None:
        """Sample the arrivals before the next DTIM beacon that has any, and schedule their transmission."""
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
        if self._listener.accepts_group(self._number, waiting):
            for _ in range(waiting):
                self._link.send(self._frame())
        else:
            self.missed += waiting
            if isinstance(self._link, SniffedLink):
                self._link.report_unreceived(self._frame(), waiting)
        self._plan()

    def _frame(self) -> Segment:
        return Segment(GROUP, 0, self._bytes - 40, 0, False, False, self._bytes)
