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

_ENOUGH = 1024
"""Frames that are written at once."""


class Capture(Observer):
    """Capture: writes what a sniffer beside the station hears to *file*, opened for bytes.

    Frames of the plain MAC are told by the links; null frames, PS-Polls and ACKs, which it leaves out, are
    added here. A MAC that sends these itself sets ``air`` frames of every kind, and ``adds`` to false.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._waiting, self._tim = Waiting(), Tim()
        self._beacon_s = -inf
        self._agreed = False
        self._signals: Signals | None = None
        self._batches: Batches

    def begin(self, topology: Topology, policy: Policy) -> None:
        """Write the header of the file."""
        service = policy.service if isinstance(policy.service, Service) else None
        self._agreed = service is not None and service.interval_s is not None
        self._signals = Signals(topology, service is not None, self._signal)
        self._batches = Batches(scene_of(topology), self._tim)
        self._file.write(FILE_HEADER)

    def radio(self, time_s: float, awake: bool) -> None:
        """Add the null frame that tells of it, if it is told by one."""
        if self._signals is not None:
            self._signals.radio(time_s, awake, awake and time_s == self._beacon_s)

    def beacons(self, first_s: float, count: int, every_s: float) -> None:
        """Note for which beacon the station woke last; agreed periods of TWT are none."""
        self._beacon_s = first_s + (count - 1) * every_s if count > 1 else first_s
        if not self._agreed:
            self._tim.heard(self._beacon_s)

    def held(self, time_s: float, frames: int, fetched: int) -> None:
        """Note what the TIM says."""
        time_s = self._tim.held(time_s, frames, fetched)
        if fetched and self._signals is not None:
            self._signals.fetched(time_s, fetched)

    def air(self, frame: OnAir) -> None:
        """Keep a frame, and write those whose order is certain."""
        sleeps = frame.sleeps
        if self._signals is not None:
            self._signals.before(frame)
            sleeps = self._signals.sleeps and frame.uplink
        if frame.kind == "group":
            self._batches.follows_beacon(frame.queued_s)
        self._waiting.add(frame, frame.heard_s, bool(sleeps))
        if len(self._waiting) >= _ENOUGH:
            self._write(self._tim.settled(frame.queued_s))

    def finish(self, time_s: float) -> None:
        """Write what was heard until now: what is still on the air is not heard to its end."""
        self._write(nextafter(time_s, inf))

    def _signal(self, kind: FrameKind, time_s: float, sleeps: bool) -> None:
        frame = OnAir(kind, True, time_s, time_s, 0.0, time_s, None)
        # One bit later than what it follows: the beacon that woke the station, or its last frame.
        self._waiting.add(frame, nextafter(time_s, inf), sleeps)

    def _write(self, until_s: float) -> None:
        for piece in self._batches.of(self._waiting.take(until_s), until_s):
            self._file.write(piece)
