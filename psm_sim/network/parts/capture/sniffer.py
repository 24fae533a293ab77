"""Sniffer next to an access point, which sorts the frames of all stations and writes them in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, nextafter
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.air_frame import AirFrame
from psm_sim.network.parts.capture.beacons import BeaconTimes, TimBitmap, bitmaps_of
from psm_sim.network.parts.capture.capture_header_values import CaptureHeaderValues, capture_header_values
from psm_sim.network.parts.capture.frame_headers import (
    ack_rows,
    beacon_template,
    fill_beacons,
    frame_rows,
    sizes_of,
)
from psm_sim.network.parts.capture.pending_frames import (
    ACK,
    DATA,
    NULL_FRAME,
    PS_POLL,
    ROW,
    PendingFrames,
    take_rows,
)
from psm_sim.network.parts.capture.record_layouts import FILE_HEADER, LAYOUTS
from psm_sim.network.topology import Topology

_MAX_BEACONS = 1 << 14
_ACK = LAYOUTS["ack"].itemsize

Rows = NDArray[np.void]
IntArray = NDArray[np.int64]
TimBits = tuple[NDArray[np.uint8], NDArray[np.bool_]]


class Batches:
    """Packer of the frames and beacons of one file.

    Beacon numbers and sequence numbers continue from one batch to the next. ``times`` has the
    transmission times of the beacons.

    Parameters
    ----------
    settings
        Values of header fields.
    tims
        TIM bits of each station, from association 1 on.
    acks
        Whether to add an ACK after each individually addressed frame. False if the MAC reports ACKs.
    """

    def __init__(self, settings: CaptureHeaderValues, tims: Sequence[TimBitmap], acks: bool = True) -> None:
        self._settings, self._tims, self._acks = settings, tims, acks
        self.times = BeaconTimes(settings)
        self._beacon = self._from_access_point = 0
        self._from_stations = [0] * (1 + settings.stations)
        self._beacons = beacon_template(_MAX_BEACONS, settings)
        self._size = self._beacons.itemsize

    def add_group_frame(self, time_s: float) -> None:
        """Record that a group addressed frame follows the beacon at *time_s* seconds."""
        self._tims[0].group.add(round(time_s / self._settings.beacon_s))

    def records(self, frames: Rows, until_s: float) -> Iterator[memoryview]:
        """Yield the records of *frames* and of the beacons before *until_s* seconds, in order."""
        last = self.times.before(until_s)
        while self._beacon + _MAX_BEACONS < last:
            middle = self._beacon + _MAX_BEACONS
            done = int(np.searchsorted(frames["sort_s"], self.times.heard_s(middle), side="left"))
            yield self._pack(frames[:done], middle).data
            frames = frames[done:]
        yield self._pack(frames, max(last, self._beacon)).data

    def _pack(self, frames: Rows, last: int) -> NDArray[np.uint8]:
        """Return the records of *frames* and of the beacons before number *last*."""
        numbers = np.arange(self._beacon, last)
        starts_s, (bitmaps, groups) = self.times.starts_s(numbers), self._tim_bits(numbers)
        sent = starts_s >= 0
        if not sent.all():
            numbers, starts_s, bitmaps, groups = numbers[sent], starts_s[sent], bitmaps[sent], groups[sent]
        self._beacon = last
        # passed: beacons before each frame; behind: frames up to each beacon
        passed = np.searchsorted(starts_s + self._settings.beacon_air_s, frames["sort_s"], side="left")
        behind = np.cumsum(np.bincount(passed, minlength=numbers.size + 1))[: numbers.size]
        acked = self._acks & ((frames["kind"] == DATA) | (frames["kind"] == NULL_FRAME))
        sizes = sizes_of(frames, self._settings)
        ends = np.append(0, np.cumsum(sizes + _ACK * acked))
        first, beacons_at = (
            ends[:-1] + self._size * passed,
            self._size * np.arange(numbers.size) + ends[behind],
        )
        packed = np.zeros(int(ends[-1]) + self._size * numbers.size, np.uint8)
        orders, beacon_orders = self._sequence_numbers(frames, passed, behind)
        for rows, chosen in frame_rows(frames, sizes, orders, self._settings):
            _place(packed, first[chosen], rows)
        _place(
            packed, (first + sizes)[acked], ack_rows(take_rows(frames, np.flatnonzero(acked)), self._settings)
        )
        _place(packed, beacons_at, self._beacon_rows(numbers, starts_s, beacon_orders, (bitmaps, groups)))
        return packed

    def _sequence_numbers(
        self, frames: Rows, passed: IntArray, behind: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Return the sequence numbers of frames and of beacons, which each sender counts separately."""
        counted = (frames["kind"] != PS_POLL) & (frames["kind"] != ACK)
        down = np.cumsum(counted & ~frames["up"])
        beacons = self._from_access_point + np.arange(behind.size) + np.append(0, down)[behind]
        orders = self._from_access_point + down - 1 + passed
        self._from_access_point += behind.size + (int(down[-1]) if down.size else 0)
        up = np.flatnonzero(counted & frames["up"])
        senders = frames["aid"][up]
        for aid in np.flatnonzero(np.bincount(senders)).tolist():
            own = up[senders == aid]
            orders[own] = self._from_stations[aid] + np.arange(own.size)
            self._from_stations[aid] += own.size
        return orders & 0xFFF, beacons & 0xFFF

    def _tim_bits(self, numbers: IntArray) -> TimBits:
        """Return the TIM bitmaps of beacons, (n, octets), and whether group frames follow each, (n,)."""
        first = int(numbers[0]) if numbers.size else 0
        due_s = self.times.due_s(numbers)
        return bitmaps_of(self._tims, due_s), self._tims[0].groups(first, numbers.size)

    def _beacon_rows(
        self, numbers: IntArray, starts_s: NDArray[np.floating], orders: IntArray, tim_bits: TimBits
    ) -> Rows:
        rows = self._beacons[: numbers.size]
        fill_beacons(rows, numbers, starts_s, orders, tim_bits, self._settings)
        return rows


def _place(packed: NDArray[np.uint8], at: IntArray, rows: Rows) -> None:
    """Copy *rows* to the byte offsets *at* of *packed*."""
    if rows.size:
        row_type = f"V{rows.itemsize}"
        # A view of overlapping rows, one at every byte offset, so that each row is copied in one operation.
        windows = np.ndarray(packed.size - rows.itemsize + 1, row_type, packed, strides=(1,))
        windows[at] = rows.view(row_type)


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

    def __init__(self, file: BinaryIO, stations: int) -> None:
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
            settings = capture_header_values(topology, self._stations)
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
