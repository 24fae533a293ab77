"""Capture of a run, as an observer: one station's part of what a sniffer hears."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import BinaryIO

from psm_sim.network.air_frame import AirFrame
from psm_sim.network.observers.capture.pending_frames import DATA, DERIVED, pack
from psm_sim.network.observers.capture.power_management_frames import ImpliedFrames
from psm_sim.network.observers.capture.sniffer import Sniffer
from psm_sim.network.observers.capture.tim_bitmap import TimBitmap
from psm_sim.network.observers.observer import Observer
from psm_sim.network.segment import Segment
from psm_sim.network.topology import Topology
from psm_sim.policies import Policy
from psm_sim.policies.service_period import ServicePeriod


class Capture(Observer):
    """Capture: writes what a sniffer beside the station hears to *file*, opened for bytes.

    The plain MAC tells of data alone; null frames, PS-Polls and ACKs, which it leaves out, are added here. A
    MAC that tells of frames of every kind, with their power-management bits, is taken by its word: the air of
    802.11, or any if *whole* is true. Instead of a file it takes a sniffer that hears other stations, too.
    """

    def __init__(self, file: BinaryIO | Sniffer, whole: bool = False) -> None:
        self._sniffer = file if isinstance(file, Sniffer) else Sniffer(file)
        self._waiting, self._rows, self._whole = self._sniffer.waiting, self._sniffer.waiting.rows, whole
        self._beacon_s = -inf
        self._agreed = False
        self._aid = 1
        self._tim: TimBitmap
        self._signals: ImpliedFrames

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Join the sniffer."""
        self._whole = self._whole or topology.mac.model == "dcf"
        service = policy.service if isinstance(policy.service, ServicePeriod) else None
        self._agreed = service is not None and service.interval_s is not None
        self._aid, self._tim = self._sniffer.join(topology, self._whole)
        self._signals = ImpliedFrames(topology, service is not None, self._aid, self._waiting)

    def radio(self, time_s: float, awake: bool) -> None:
        """Add the null frame that tells of it, if it is told by one."""
        if not self._whole:
            self._signals.radio(time_s, awake, awake and time_s == self._beacon_s)

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Note for which beacon the station woke last; agreed periods of TWT are none."""
        self._beacon_s = first_s + (count - 1) * every_s if count > 1 else first_s
        if not self._agreed:
            self._tim.heard_s = self._beacon_s

    def buffered(self, time_s: float, frames: int, retrieved: int) -> None:
        """Note what the TIM says."""
        time_s = self._tim.buffered(time_s, frames, retrieved)
        if retrieved and not self._whole:
            self._signals.retrieved(time_s, retrieved)

    def air_data(
        self, up: bool, queued_s: float, starts_s: float, air_s: float, heard_s: float, segment: Segment
    ) -> None:
        """Keep a segment of TCP that a plain link carries, and write the frames whose order is certain.

        Parameters
        ----------
        up, queued_s, starts_s, air_s, heard_s, segment
            As an :class:`~psm_sim.network.air_frame.AirFrame` has them.
        """
        signals = self._signals
        sleeps = signals.sleeps
        if not up and (sleeps or signals.awaited):
            signals.before(queued_s, starts_s)
        self._rows += pack(
            heard_s, heard_s, air_s, starts_s, queued_s, segment.connection.number, segment.seq,
            segment.payload, segment.ack, segment.wire_bytes, self._aid, DATA, up, up and sleeps, False,
            DERIVED, segment.syn, segment.fin | 4 if segment.rst else segment.fin,
        )  # fmt: skip
        if len(self._rows) >= self._sniffer.enough:
            self._sniffer.written(queued_s)

    def air(self, frame: AirFrame) -> None:
        """Keep a frame, and have those written whose order is certain."""
        if frame.kind == "beacon":
            self._sniffer.late(frame)
            return
        if frame.kind == "group":
            self._sniffer.follows_beacon(frame.queued_s)
        sleeps, signals = frame.sleeps, self._signals
        if sleeps is None:
            sleeps = frame.uplink and signals.sleeps
            if frame.kind == "data" and frame.segment is not None and not frame.uplink:
                signals.before(frame.queued_s, frame.starts_s)
        self._waiting.add(frame, self._aid, sleeps)
        if len(self._rows) >= self._sniffer.enough:
            self._sniffer.written(frame.queued_s)

    def finish(self, time_s: float) -> None:
        """Have the file completed if no other station is left."""
        self._sniffer.finish(time_s)


def capture_observers(file: BinaryIO, stations: int) -> Sequence[Capture]:
    """Return a capture for each of some stations in the order of their associations, all in one file."""
    sniffer = Sniffer(file, stations)
    return [Capture(sniffer) for _ in range(stations)]
