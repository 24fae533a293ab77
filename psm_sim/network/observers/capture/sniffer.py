"""Sniffer beside an access point: it keeps the frames of all stations until their order is certain."""

from __future__ import annotations

from math import inf, nextafter
from typing import BinaryIO

from psm_sim.network.air_frame import AirFrame
from psm_sim.network.observers.capture.batch import Batches
from psm_sim.network.observers.capture.capture_settings import capture_settings
from psm_sim.network.observers.capture.layout import FILE_HEADER
from psm_sim.network.observers.capture.pending_frames import ROW, PendingFrames
from psm_sim.network.observers.capture.tim_bitmap import TimBitmap
from psm_sim.network.topology import Topology

_ENOUGH = 4096
"""Frames that are written at once."""


class Sniffer:
    """Sniffer: writes a file when it has heard enough, and completes it when the last station is done.

    ``waiting`` takes the frames; :meth:`written` is to be called when its rows have ``enough`` bytes.

    Parameters
    ----------
    file
        Opened for bytes.
    stations
        How many share the access point; each joins before the clock starts.
    """

    def __init__(self, file: BinaryIO, stations: int = 1) -> None:
        self._file, self._stations = file, stations
        self._tims: list[TimBitmap] = []
        self._left = stations
        self.waiting, self.enough = PendingFrames(), _ENOUGH * ROW.itemsize
        self._batches: Batches

    def join(self, topology: Topology, whole: bool) -> tuple[int, TimBitmap]:
        """Return the association of one more station, and what it is to tell of frames held for it.

        Parameters
        ----------
        topology
            The scenario.
        whole
            Whether the MAC tells of its own ACKs.
        """
        self._tims.append(TimBitmap())
        if len(self._tims) == 1:
            scene = capture_settings(topology, self._stations)
            self._batches = Batches(scene, self._tims, acks=not whole)
            self._file.write(FILE_HEADER)
        return len(self._tims), self._tims[-1]

    def late(self, beacon: AirFrame) -> None:
        """Take note of a late beacon."""
        self._batches.times.late(beacon)

    def follows_beacon(self, time_s: float) -> None:
        """Note that a group frame follows the beacon at a time, in seconds."""
        self._batches.follows_beacon(time_s)

    def written(self, now_s: float) -> None:
        """Write what nothing can precede that will be told from *now_s* seconds on."""
        self._write(min(tim.settled(now_s) for tim in self._tims))

    def finish(self, time_s: float) -> None:
        """Take note that a station is done; what is still on the air when the last one is goes unheard."""
        self._left -= 1
        if not self._left:
            self._write(nextafter(time_s, inf))

    def _write(self, until_s: float) -> None:
        for piece in self._batches.of(self.waiting.take(until_s), until_s):
            self._file.write(piece)
        self.enough = len(self.waiting.rows) + _ENOUGH * ROW.itemsize
