"""Observer that captures the frames of one station."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import BinaryIO

from psm_sim.network.air_frame import AirFrame
from psm_sim.network.observers import Observer
from psm_sim.network.parts.capture.implied_frames import ImpliedFrames
from psm_sim.network.parts.capture.pending_frames import DATA, DERIVED, pack
from psm_sim.network.parts.capture.sniffer import Sniffer
from psm_sim.network.parts.capture.tim_bitmap import TimBitmap
from psm_sim.network.segment import Segment
from psm_sim.network.topology import Topology
from psm_sim.policies import Policy
from psm_sim.policies.service_period_rules import ServicePeriod


class Capture(Observer):
    """Observer that writes the frames of a station to a pcap file.

    A plain link reports data frames only. The capture then adds the implied null data frames, PS-Polls
    and ACKs. The frames of a MAC that reports all kinds, with their PM bits, are written unchanged.

    Parameters
    ----------
    file
        Binary file; or a sniffer that captures several stations.
    reports_all
        Whether the MAC reports all kinds of frames. The DCF always does.
    """

    def __init__(self, file: BinaryIO | Sniffer, reports_all: bool = False) -> None:
        self._sniffer = file if isinstance(file, Sniffer) else Sniffer(file)
        self._pending, self._rows, self._reports_all = (
            self._sniffer.pending,
            self._sniffer.pending.rows,
            reports_all,
        )
        self._beacon_s = -inf
        self._has_twt = False
        self._aid = 1
        self._tim: TimBitmap
        self._implied: ImpliedFrames

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Register the station with the sniffer."""
        self._reports_all = self._reports_all or topology.mac.model == "dcf"
        service = policy.service if isinstance(policy.service, ServicePeriod) else None
        self._has_twt = service is not None and service.interval_s is not None
        self._aid, self._tim = self._sniffer.join(topology, self._reports_all)
        self._implied = ImpliedFrames(topology, service is not None, self._aid, self._pending)

    def radio(self, time_s: float, awake: bool) -> None:
        """Add the null data frame that announces the change, if the station sends one."""
        if not self._reports_all:
            self._implied.radio(time_s, awake, awake and time_s == self._beacon_s)

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Record the last beacon for which the station woke. TWT service periods have no beacon."""
        self._beacon_s = first_s + (count - 1) * every_s if count > 1 else first_s
        if not self._has_twt:
            self._tim.heard_s = self._beacon_s

    def buffered(self, time_s: float, frames: int, retrieved: int) -> None:
        """Record the TIM bit."""
        time_s = self._tim.buffered(time_s, frames, retrieved)
        if retrieved and not self._reports_all:
            self._implied.retrieved(time_s, retrieved)

    def air_data(
        self, up: bool, queued_s: float, starts_s: float, air_s: float, heard_s: float, segment: Segment
    ) -> None:
        """Record a TCP segment on a plain link, and write the frames whose order is certain.

        Parameters
        ----------
        up, queued_s, starts_s, air_s, heard_s, segment
            As for :class:`~psm_sim.network.air_frame.AirFrame`.
        """
        implied = self._implied
        sleeps = implied.sleeps
        if not up and (sleeps or implied.awaited):
            implied.add_before(queued_s, starts_s)
        self._rows += pack(
            heard_s, heard_s, air_s, starts_s, queued_s, segment.connection.number, segment.seq,
            segment.payload, segment.ack, segment.wire_bytes, self._aid, DATA, up, up and sleeps, False,
            DERIVED, segment.syn, segment.fin | 4 if segment.rst else segment.fin,
        )  # fmt: skip
        if len(self._rows) >= self._sniffer.flush_bytes:
            self._sniffer.flush(queued_s)

    def air(self, frame: AirFrame) -> None:
        """Record a frame, and write the frames whose order is certain."""
        if frame.kind == "beacon":
            self._sniffer.late(frame)
            return
        if frame.kind == "group":
            self._sniffer.add_group_frame(frame.queued_s)
        sleeps, implied = frame.sleeps, self._implied
        if sleeps is None:
            sleeps = frame.uplink and implied.sleeps
            if frame.kind == "data" and frame.segment is not None and not frame.uplink:
                implied.add_before(frame.queued_s, frame.starts_s)
        self._pending.add(frame, self._aid, sleeps)
        if len(self._rows) >= self._sniffer.flush_bytes:
            self._sniffer.flush(frame.queued_s)

    def finish(self, time_s: float) -> None:
        """Complete the file if this is the last station."""
        self._sniffer.finish(time_s)


def capture_observers(file: BinaryIO, stations: int) -> Sequence[Capture]:
    """Return captures for *stations* stations, in association order, that share one file."""
    sniffer = Sniffer(file, stations)
    return [Capture(sniffer) for _ in range(stations)]
