"""Batches of a capture: frames and the beacons between them, packed all at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from psm_sim.network.observers.capture.beacon_times import BeaconTimes
from psm_sim.network.observers.capture.headers import (
    ack_rows,
    beacon_template,
    fill_beacons,
    frame_rows,
    sizes_of,
)
from psm_sim.network.observers.capture.layout import LAYOUTS
from psm_sim.network.observers.capture.scene import Scene
from psm_sim.network.observers.capture.tim import Tim
from psm_sim.network.observers.capture.waiting import ACK, DATA, NULL_FRAME, PS_POLL

_MOST_BEACONS = 1 << 13
_ACK, _BEACON = LAYOUTS["ack"].itemsize, LAYOUTS["beacon"].itemsize

Rows = NDArray[np.void]
Wholes = NDArray[np.int64]


class Batches:
    """Batches of one file: what goes on from one to the next is the beacon's number, and the frames'.

    ``times`` says when beacons are on the air.

    Parameters
    ----------
    scene
        What stands in the headers.
    tim
        Which beacons name the station.
    acks
        Whether each frame to one receiver is followed by an ACK; false if the MAC tells of its own.
    """

    def __init__(self, scene: Scene, tim: Tim, acks: bool = True) -> None:
        self._scene, self._tim, self._acks = scene, tim, acks
        self.times = BeaconTimes(scene)
        self._beacon = self._from_access_point = self._from_station = 0
        self._beacons = beacon_template(_MOST_BEACONS, scene)
        self._room = np.zeros(1 << 20, np.uint8)

    def follows_beacon(self, time_s: float) -> None:
        """Note that a group frame follows the beacon at a time, in seconds."""
        self._tim.group.add(round(time_s / self._scene.beacon_s))

    def of(self, frames: Rows, until_s: float) -> Iterator[memoryview]:
        """Yield the records of frames, and of the beacons before a time in seconds, in order.

        Each piece is to be written at once: the next one takes its place in memory.
        """
        last = self.times.before(until_s)
        while self._beacon + _MOST_BEACONS < last:
            middle = self._beacon + _MOST_BEACONS
            done = int(np.searchsorted(frames["sort_s"], self.times.heard_s(middle), side="left"))
            yield self._packed(frames[:done], middle).data
            frames = frames[done:]
        yield self._packed(frames, max(last, self._beacon)).data

    def _packed(self, frames: Rows, last: int) -> NDArray[np.uint8]:
        """Return the records of frames and of the beacons up to number *last*, that one not included."""
        numbers = np.arange(self._beacon, last)
        begun_s, bits = self.times.begun_s(numbers), self._bits(numbers)
        sent = np.flatnonzero(begun_s >= 0)
        numbers, begun_s, bits, self._beacon = numbers[sent], begun_s[sent], bits[:, sent], last
        passed = np.searchsorted(begun_s + self._scene.beacon_air_s, frames["sort_s"], side="left")
        behind = np.cumsum(np.bincount(passed, minlength=numbers.size + 1))[: numbers.size]
        acked = self._acks & np.isin(frames["kind"], (DATA, NULL_FRAME))
        sizes = sizes_of(frames, self._scene)
        ends = np.append(0, np.cumsum(sizes + _ACK * acked))
        first, beacons_at = ends[:-1] + _BEACON * passed, _BEACON * np.arange(numbers.size) + ends[behind]
        packed = self._zeros(int(ends[-1]) + _BEACON * numbers.size)
        orders, beacon_orders = self._orders(frames, passed, behind)
        for rows, chosen in frame_rows(frames, sizes, orders, self._scene):
            _place(packed, first[chosen], rows)
        _place(packed, (first + sizes)[acked], ack_rows(frames[acked], self._scene))
        _place(packed, beacons_at, self._beacon_rows(numbers, begun_s, beacon_orders, bits))
        return packed

    def _orders(self, frames: Rows, passed: Wholes, behind: Wholes) -> tuple[Wholes, Wholes]:
        """Return the sequence numbers of frames and of beacons: each sender counts its own."""
        counted = (frames["kind"] != PS_POLL) & (frames["kind"] != ACK)
        down, up = np.cumsum(counted & ~frames["up"]), np.cumsum(counted & frames["up"])
        beacons = self._from_access_point + np.arange(behind.size) + np.append(0, down)[behind]
        here = self._from_access_point + down - 1 + passed
        orders = np.where(frames["up"], self._from_station + up - 1, here)
        self._from_access_point += behind.size + (int(down[-1]) if down.size else 0)
        self._from_station += int(up[-1]) if up.size else 0
        return orders % 4096, beacons % 4096

    def _bits(self, numbers: Wholes) -> NDArray[np.bool_]:
        """Return, (2, n), whether each beacon names the station, and whether group frames follow it."""
        first = int(numbers[0]) if numbers.size else 0
        due_s = self.times.due_s(numbers)
        return np.array([self._tim.names(due_s), self._tim.groups(first, numbers.size)])

    def _beacon_rows(
        self, numbers: Wholes, begun_s: NDArray[np.floating], orders: Wholes, bits: NDArray[np.bool_]
    ) -> Rows:
        rows = self._beacons[: numbers.size]
        fill_beacons(rows, numbers, begun_s, orders, bits, self._scene)
        return rows

    def _zeros(self, size: int) -> NDArray[np.uint8]:
        """Return zeros in the same memory again and again: new pages take longer to clear than to copy."""
        if self._room.size < size:
            self._room = np.zeros(2 * size, np.uint8)
        packed = self._room[:size]
        packed[:] = 0
        return packed


def _place(packed: NDArray[np.uint8], at: Wholes, rows: Rows) -> None:
    """Write rows to their places."""
    if rows.size:
        whole = f"V{rows.itemsize}"
        # Every place of the buffer as the begin of a row: a row is then copied as one piece.
        begins = np.ndarray(packed.size - rows.itemsize + 1, whole, packed, strides=(1,))
        begins[at] = rows.view(whole)
