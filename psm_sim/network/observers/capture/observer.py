"""Capture of a run, as an observer: it keeps what is heard until its order is certain, and writes it."""

from __future__ import annotations

from math import inf, nextafter
from typing import BinaryIO

from psm_sim.network.observers.capture.batch import Batches
from psm_sim.network.observers.capture.layout import FILE_HEADER
from psm_sim.network.observers.capture.scene import scene_of
from psm_sim.network.observers.capture.signals import Signals
from psm_sim.network.observers.capture.tim import Tim
from psm_sim.network.observers.capture.waiting import Waiting
from psm_sim.network.observers.observer import Observer
from psm_sim.network.on_air import FrameKind, OnAir
from psm_sim.network.topology import Topology
from psm_sim.policies import Policy
from psm_sim.policies.service import Service

_ENOUGH = 2048
"""Frames that are written at once."""


class Capture(Observer):
    """Capture: writes what a sniffer beside the station hears to *file*, opened for bytes.

    The plain MAC tells of data alone; null frames, PS-Polls and ACKs, which it leaves out, are added here. A
    MAC that tells of frames of every kind, with their power-management bits, is taken by its word: the air of
    802.11, or any if *whole* is true.
    """

    def __init__(self, file: BinaryIO, whole: bool = False) -> None:
        self._file, self._whole = file, whole
        self._waiting, self._tim = Waiting(), Tim()
        self._beacon_s, self._enough = -inf, _ENOUGH
        self._agreed = False
        self._signals: Signals
        self._batches: Batches

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Write the header of the file."""
        self._whole = self._whole or topology.mac.model == "dcf"
        service = policy.service if isinstance(policy.service, Service) else None
        self._agreed = service is not None and service.interval_s is not None
        self._signals = Signals(topology, service is not None, self._signal)
        self._batches = Batches(scene_of(topology), self._tim, acks=not self._whole)
        self._file.write(FILE_HEADER)

    def radio(self, time_s: float, awake: bool) -> None:
        """Add the null frame that tells of it, if it is told by one."""
        self._signals.radio(time_s, awake, awake and time_s == self._beacon_s)

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Note for which beacon the station woke last; agreed periods of TWT are none."""
        self._beacon_s = first_s + (count - 1) * every_s if count > 1 else first_s
        if not self._agreed:
            self._tim.heard(self._beacon_s)

    def held(self, time_s: float, frames: int, fetched: int) -> None:
        """Note what the TIM says."""
        time_s = self._tim.held(time_s, frames, fetched)
        if fetched:
            self._signals.fetched(time_s, fetched)

    def air(self, frame: OnAir) -> None:
        """Keep a frame, and write those whose order is certain."""
        if frame.kind == "beacon":
            self._batches.times.late(frame)
            return
        kind, up, queued_s, _, _, heard_s, _, _, sleeps, _ = frame
        if sleeps is None:
            sleeps = up and self._signals.sleeps
            if not up:
                self._signals.before(frame)
        if kind == "group":
            self._batches.follows_beacon(queued_s)
        self._waiting.add(frame, heard_s, sleeps)
        if len(self._waiting) >= self._enough:
            self._write(self._tim.settled(queued_s))

    def finish(self, time_s: float) -> None:
        """Write what was heard until now: what is still on the air is not heard to its end."""
        self._write(nextafter(time_s, inf))

    def _signal(self, kind: FrameKind, time_s: float, sleeps: bool) -> None:
        if self._whole:
            return
        frame = OnAir(kind, True, time_s, time_s, 0.0, time_s, None)
        # One bit later than what it follows: the beacon that woke the station, or its last frame.
        self._waiting.add(frame, nextafter(time_s, inf), sleeps)

    def _write(self, until_s: float) -> None:
        for piece in self._batches.of(self._waiting.take(until_s), until_s):
            self._file.write(piece)
        self._enough = len(self._waiting) + _ENOUGH
