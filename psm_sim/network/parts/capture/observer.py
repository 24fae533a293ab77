"""Observer that captures the frames of one station."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nextafter
from typing import BinaryIO

from psm_sim.network.observers import Observer
from psm_sim.network.parts.capture.frames import PendingFrame
from psm_sim.network.parts.capture.sniffer import Sniffer, TimBit
from psm_sim.network.sniffed_link import AirFrame
from psm_sim.network.topology import Topology
from psm_sim.policies import Policy
from psm_sim.policies.base import ServicePeriod


class ImpliedFrames:
    """Null data frames and PS-Polls of one station, which the link model does not simulate.

    They are inserted where a real station would send them (docs/captures.md), with a duration of 0. A station
    with service periods (*served*) never announces that it is awake.

    Attributes
    ----------
    sleeps : bool
        PM bit of the station, as the access point knows it.
    awaited : int
        Number of PS-Polls that are still to be added.
    """

    def __init__(self, topology: Topology, served: bool, aid: int, sniffer: Sniffer) -> None:
        access_point = topology.access_point
        polls = access_point.late_frames == "wait"
        self._served, self._release = served, access_point.release_on_uplink
        self._announces_awake = not polls and not served
        self._aid, self._sniffer = aid, sniffer
        self.awaited = 0
        self.sleeps = False

    def radio(self, time_s: float, awake: bool, by_beacon: bool) -> None:
        """Add the null data frame that announces a change of the radio state.

        If the station wakes to transmit (*by_beacon* is false), its own frame announces the change.
        """
        if not awake:
            if not self.sleeps:
                self._add_null(time_s, True)
        elif by_beacon:
            if self.sleeps and self._announces_awake:
                self._add_null(time_s, False)
        elif self._release and self._announces_awake:
            self.sleeps = False

    def retrieved(self, time_s: float, frames: int) -> None:
        """Retrieve *frames* buffered frames: add a null data frame now, or later a PS-Poll for each."""
        if self._announces_awake:
            if self.sleeps:
                self._add_null(time_s, False)
        elif not self._served:
            self.awaited += frames

    def add_before(self, queued_s: float, starts_s: float) -> None:
        """Add the PS-Poll or null data frame that precedes a downlink data frame with these times."""
        if self.awaited:
            self.awaited -= 1
            self._add(starts_s, "ps-poll", True)
        elif self.sleeps and not self._served:
            self._add_null(queued_s, False)

    def _add_null(self, time_s: float, sleeps: bool) -> None:
        self.sleeps = sleeps
        self._add(time_s, "null", sleeps)

    def _add(self, time_s: float, kind: str, sleeps: bool) -> None:
        """Add an uplink frame of duration 0 directly after *time_s*."""
        self._sniffer.add(PendingFrame(nextafter(time_s, inf), time_s, 0.0, kind, self._aid, True, sleeps))


class Capture(Observer):
    """Observer that writes the frames of a station to a pcap file.

    The link model reports no ACKs, PS-Polls and null data frames that announce the power state, so the
    capture adds them. With the DCF, it writes the reported frames unchanged.
    """

    def __init__(self, sniffer: Sniffer) -> None:
        self._sniffer = sniffer
        self._last_down: tuple[PendingFrame, float] | None = None
        self._reports_all = False
        self._beacon_s = -inf
        self._has_twt = False
        self._aid = 1
        self._tim: TimBit
        self._implied: ImpliedFrames

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Register the station with the sniffer."""
        self._reports_all = topology.mac.model == "dcf"
        service = policy.service if isinstance(policy.service, ServicePeriod) else None
        self._has_twt = service is not None and service.interval_s is not None
        self._aid, self._tim = self._sniffer.join(topology, self._reports_all)
        self._implied = ImpliedFrames(topology, service is not None, self._aid, self._sniffer)

    def radio(self, time_s: float, awake: bool) -> None:
        """Add the null data frame that announces the new state, if a real station sends one."""
        if not self._reports_all:
            self._implied.radio(time_s, awake, awake and time_s == self._beacon_s)

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Record the time of the last beacon or, with TWT, of the last service period."""
        self._beacon_s = first_s + (count - 1) * every_s if count > 1 else first_s
        if not self._has_twt:
            self._tim.heard_s = self._beacon_s

    def buffered(self, time_s: float, frames: int, retrieved: int) -> None:
        """Record the TIM bit."""
        time_s = self._tim.buffered(time_s, frames, retrieved)
        if retrieved and not self._reports_all:
            self._implied.retrieved(time_s, retrieved)

    def air(self, frame: AirFrame) -> None:
        """Record a frame, and write pending frames if there are many."""
        kind, up, queued_s, starts_s, air_s, heard_s, segment, retry, sleeps, more = frame
        if kind == "beacon":
            self._sniffer.times.late(frame)
            return
        if kind == "group":
            self._sniffer.add_group_frame(queued_s)
        if sleeps is None:
            sleeps = up and self._implied.sleeps
            if kind == "data" and segment is not None and not up:
                self._implied.add_before(queued_s, starts_s)
        added = PendingFrame(heard_s, heard_s, air_s, kind, self._aid, up, sleeps, segment, retry, more)
        if kind == "data" and not up:
            if self._last_down is not None and self._last_down[0].more is None:
                last, last_starts_s = self._last_down
                last.more = queued_s <= last_starts_s  # this frame is queued behind the last one
            self._last_down = added, starts_s
        self._sniffer.add(added)
        self._sniffer.flush(queued_s)

    def finish(self, time_s: float) -> None:
        """Complete the file if this is the last station."""
        self._sniffer.finish(time_s)


def capture_observers(file: BinaryIO, stations: int) -> Sequence[Capture]:
    """Return one capture per station, in association order. All captures write to the same file."""
    sniffer = Sniffer(file, stations)
    return [Capture(sniffer) for _ in range(stations)]
