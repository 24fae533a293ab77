"""Sniffer next to an access point, which sorts the frames of all stations and writes them."""

from __future__ import annotations

from math import inf, nextafter
from typing import BinaryIO

from psm_sim.network.air_frame import AirFrame
from psm_sim.network.parts.capture.capture_settings import capture_settings
from psm_sim.network.parts.capture.frame_batches import Batches
from psm_sim.network.parts.capture.pending_frames import ROW, PendingFrames
from psm_sim.network.parts.capture.record_layouts import FILE_HEADER
from psm_sim.network.parts.capture.tim_bitmap import TimBitmap
from psm_sim.network.topology import Topology

_FLUSH_FRAMES = 4096
"""Number of pending frames at which they are written."""


class Sniffer:
    """Writer of a capture, which completes the file when the last station has finished.

    Parameters
    ----------
    file
        Binary file.
    stations
        Number of stations on the access point. Each one joins before the clock starts.

    Attributes
    ----------
    pending : PendingFrames
        Frames that are not yet written.
    flush_bytes : int
        Size of the pending rows at which :meth:`flush` is to be called.
    """

    def __init__(self, file: BinaryIO, stations: int = 1) -> None:
        self._file, self._stations = file, stations
        self._tims: list[TimBitmap] = []
        self._unfinished = stations
        self.pending, self.flush_bytes = PendingFrames(), _FLUSH_FRAMES * ROW.itemsize
        self._batches: Batches

    def join(self, topology: Topology, reports_all: bool) -> tuple[int, TimBitmap]:
        """Add a station. Return its association number and its TIM bit.

        Parameters
        ----------
        topology
            The resolved topology.
        reports_all
            Whether the MAC reports all kinds of frames, such as ACKs.
        """
        self._tims.append(TimBitmap())
        if len(self._tims) == 1:
            settings = capture_settings(topology, self._stations)
            self._batches = Batches(settings, self._tims, acks=not reports_all)
            self._file.write(FILE_HEADER)
        return len(self._tims), self._tims[-1]

    def late(self, beacon: AirFrame) -> None:
        """Record a late beacon."""
        self._batches.times.late(beacon)

    def add_group_frame(self, time_s: float) -> None:
        """Record that a group addressed frame follows the beacon at *time_s* seconds."""
        self._batches.add_group_frame(time_s)

    def flush(self, now_s: float) -> None:
        """Write the frames that precede all frames reported from *now_s* seconds on."""
        self._write(min(tim.settled(now_s) for tim in self._tims))

    def finish(self, time_s: float) -> None:
        """Handle the end of a station. Frames that end after the last station are not written."""
        self._unfinished -= 1
        if not self._unfinished:
            self._write(nextafter(time_s, inf))

    def _write(self, until_s: float) -> None:
        for chunk in self._batches.records(self.pending.take(until_s), until_s):
            self._file.write(chunk)
        self.flush_bytes = len(self.pending.rows) + _FLUSH_FRAMES * ROW.itemsize
