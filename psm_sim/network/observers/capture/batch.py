"""Batches of a capture: frames and the beacons between them, packed all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.observers.capture.beacon_times import BeaconTimes
from psm_sim.network.observers.capture.capture_settings import CaptureSettings
from psm_sim.network.observers.capture.headers import (
    ack_rows,
    beacon_template,
    fill_beacons,
    frame_rows,
    sizes_of,
)
from psm_sim.network.observers.capture.layout import LAYOUTS
from psm_sim.network.observers.capture.pending_frames import ACK, DATA, NULL_FRAME, PS_POLL, take_rows
from psm_sim.network.observers.capture.tim_bitmap import TimBitmap, bitmaps_of

_MAX_BEACONS = 1 << 14
_ACK = LAYOUTS["ack"].itemsize

Rows = NDArray[np.void]
IntArray = NDArray[np.int64]
Said = tuple[NDArray[np.uint8], NDArray[np.bool_]]


class Batches:
    """Batches of one file: what goes on from one to the next is the beacon's number, and the frames'.

    ``times`` says when beacons are on the air.

    Parameters
    ----------
    scene
        What stands in the headers.
    tims
        Which beacons name each station, by association from 1 on.
    acks
        Whether each frame to one receiver is followed by an ACK; false if the MAC tells of its own.
    """

    def __init__(self, scene: CaptureSettings, tims: Sequence[TimBitmap], acks: bool = True) -> None:
        self._scene, self._tims, self._acks = scene, tims, acks
        self.times = BeaconTimes(scene)
        self._beacon = self._from_access_point = 0
        self._from_stations = [0] * (1 + scene.stations)
        self._beacons = beacon_template(_MAX_BEACONS, scene)
        self._size = self._beacons.itemsize
        self._room = np.zeros(1 << 20, np.uint8)

    def follows_beacon(self, time_s: float) -> None:
        """Note that a group frame follows the beacon at a time, in seconds."""
        self._tims[0].group.add(round(time_s / self._scene.beacon_s))

    def of(self, frames: Rows, until_s: float) -> Iterator[memoryview]:
        """Yield the records of frames, and of the beacons before a time in seconds, in order.

        Each piece is to be written at once: the next one takes its place in memory.
        """
        last = self.times.before(until_s)
        while self._beacon + _MAX_BEACONS < last:
            middle = self._beacon + _MAX_BEACONS
            done = int(np.searchsorted(frames["sort_s"], self.times.heard_s(middle), side="left"))
            yield self._packed(frames[:done], middle).data
            frames = frames[done:]
        yield self._packed(frames, max(last, self._beacon)).data

    def _packed(self, frames: Rows, last: int) -> NDArray[np.uint8]:
        """Return the records of frames and of the beacons up to number *last*, that one not included."""
        numbers = np.arange(self._beacon, last)
        begun_s, (bitmaps, groups) = self.times.begun_s(numbers), self._said(numbers)
        sent = begun_s >= 0
        if not sent.all():
            numbers, begun_s, bitmaps, groups = numbers[sent], begun_s[sent], bitmaps[sent], groups[sent]
        self._beacon = last
        passed = np.searchsorted(begun_s + self._scene.beacon_air_s, frames["sort_s"], side="left")
        behind = np.cumsum(np.bincount(passed, minlength=numbers.size + 1))[: numbers.size]
        acked = self._acks & ((frames["kind"] == DATA) | (frames["kind"] == NULL_FRAME))
        sizes = sizes_of(frames, self._scene)
        ends = np.append(0, np.cumsum(sizes + _ACK * acked))
        first, beacons_at = (
            ends[:-1] + self._size * passed,
            self._size * np.arange(numbers.size) + ends[behind],
        )
        packed = self._zeros(int(ends[-1]) + self._size * numbers.size)
        orders, beacon_orders = self._sequence_numbers(frames, passed, behind)
        for rows, chosen in frame_rows(frames, sizes, orders, self._scene):
            _place(packed, first[chosen], rows)
        _place(
            packed, (first + sizes)[acked], ack_rows(take_rows(frames, np.flatnonzero(acked)), self._scene)
        )
        _place(packed, beacons_at, self._beacon_rows(numbers, begun_s, beacon_orders, (bitmaps, groups)))
        return packed

    def _sequence_numbers(
        self, frames: Rows, passed: IntArray, behind: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Return the sequence numbers of frames and of beacons: each sender counts its own."""
        counted = (frames["kind"] != PS_POLL) & (frames["kind"] != ACK)
        down = np.cumsum(counted & ~frames["up"])
        beacons = self._from_access_point + np.arange(behind.size) + np.append(0, down)[behind]
        orders = self._from_access_point + down - 1 + passed
        self._from_access_point += behind.size + (int(down[-1]) if down.size else 0)
        up = np.flatnonzero(counted & frames["up"])
        senders = frames["aid"][up]
        for aid in np.flatnonzero(np.bincount(senders)).tolist():
            mine = up[senders == aid]
            orders[mine] = self._from_stations[aid] + np.arange(mine.size)
            self._from_stations[aid] += mine.size
        return orders & 0xFFF, beacons & 0xFFF

    def _said(self, numbers: IntArray) -> Said:
        """Return whom beacons name, (n, octets), and whether group frames follow each, (n,)."""
        first = int(numbers[0]) if numbers.size else 0
        due_s = self.times.due_s(numbers)
        return bitmaps_of(self._tims, due_s), self._tims[0].groups(first, numbers.size)

    def _beacon_rows(
        self, numbers: IntArray, begun_s: NDArray[np.floating], orders: IntArray, said: Said
    ) -> Rows:
        rows = self._beacons[: numbers.size]
        fill_beacons(rows, numbers, begun_s, orders, said, self._scene)
        return rows

    def _zeros(self, size: int) -> NDArray[np.uint8]:
        """Return zeros in the same memory again and again: new pages take longer to clear than to copy."""
        if self._room.size < size:
            self._room = np.zeros(2 * size, np.uint8)
        packed = self._room[:size]
        packed[:] = 0
        return packed


def _place(packed: NDArray[np.uint8], at: IntArray, rows: Rows) -> None:
    """Write rows to their places."""
    if rows.size:
        whole = f"V{rows.itemsize}"
        # Every place of the buffer as the begin of a row: a row is then copied as one piece.
        begins = np.ndarray(packed.size - rows.itemsize + 1, whole, packed, strides=(1,))
        begins[at] = rows.view(whole)
