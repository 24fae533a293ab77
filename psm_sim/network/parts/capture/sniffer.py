"""Sniffer next to an access point, which writes the frames of all stations and the beacons in order."""

from __future__ import annotations

from math import inf, nan, nextafter
from typing import BinaryIO

from psm_sim.beacons import TOLERANCE_S, Beacons
from psm_sim.network.parts.capture.capture_header_values import CaptureHeaderValues
from psm_sim.network.parts.capture.frames import (
    FILE_HEADER,
    PendingFrame,
    ack_record,
    beacon_record,
    frame_record,
)
from psm_sim.network.sniffed_link import AirFrame
from psm_sim.network.topology import Topology

_FLUSH_FRAMES = 4096
"""Number of pending frames at which frames are written."""


class TimBit:
    """TIM bit of one station over time. All times are in seconds.

    The bit is set in a beacon if frames are buffered when the beacon is due. Frames that the station
    retrieves because of this beacon are included.

    Attributes
    ----------
    heard_s : float
        Time of the last beacon for which the station woke.
    """

    def __init__(self) -> None:
        self.heard_s = self._notified_s = -inf
        self._last = self._bit = False
        self._changes: list[tuple[float, bool]] = []

    def buffered(self, time_s: float, frames: int, retrieved: int) -> float:
        """Record the number of buffered frames, see :meth:`psm_sim.network.Observer.buffered`.

        Return the recorded time. A retrieval at a beacon is recorded just after the beacon.
        """
        if retrieved and abs(time_s - self.heard_s) < TOLERANCE_S:
            time_s = nextafter(self.heard_s, inf)
        self._notified_s = time_s = max(time_s, self._notified_s)
        if (frames > 0) is not self._last:
            self._last = frames > 0
            self._changes.append((time_s, self._last))
        return time_s

    def settled(self, now_s: float) -> float:
        """Return the time until which the bit is known.

        A set bit is known only until the last report, because the frames may have aged out since then.
        """
        return min(self._notified_s, now_s) if self._last else now_s

    def at(self, time_s: float) -> bool:
        """Return the bit in the beacon at a time. Earlier changes are forgotten."""
        while self._changes and self._changes[0][0] <= time_s:
            self._bit = self._changes.pop(0)[1]
        return self._bit


class BeaconTimes:
    """Transmission times of the beacons, all in seconds.

    A beacon is sent when it is due or, with the DCF, an interframe space later. Beacons that a busy channel
    delays further are reported by :meth:`late`. A late beacon replaces all beacons that have become due in
    the meantime.
    """

    def __init__(self, values: CaptureHeaderValues) -> None:
        self.grid = Beacons(values.beacon_s)
        self._gap_s, self._air_s = values.beacon_gap_s, values.beacon_air_s
        self._late: dict[int, float] = {}

    def late(self, frame: AirFrame) -> None:
        """Record a late beacon."""
        number = self.grid.after(frame.starts_s) - 1
        first = round(frame.queued_s / self.grid.interval_s)
        self._late |= dict.fromkeys(range(first, number), nan) | {number: frame.starts_s}

    def start_s(self, number: int) -> float:
        """Return the start of the transmission, or nan for a beacon that is not sent."""
        return self._late.get(number, number * self.grid.interval_s + self._gap_s)

    def forget(self, number: int) -> None:
        """Discard the time of a late beacon that has been written."""
        self._late.pop(number, None)

    def first_heard_from(self, time_s: float) -> int:
        """Return the number of the first beacon that is received at *time_s* or later."""
        last = self.grid.before(time_s - self._gap_s - self._air_s) + 1
        return min([number for number in self._late if self._heard_s(number) >= time_s] + [last])

    def _heard_s(self, number: int) -> float:
        start_s = self.start_s(number)
        return (start_s if start_s >= 0 else self.grid.time(number) + self._gap_s) + self._air_s


class Sniffer:
    """Writer of a capture. All stations join before the clock starts, and the last one completes the file."""

    def __init__(self, file: BinaryIO, stations: int) -> None:
        self._file, self._stations, self._unfinished = file, stations, stations
        self._tims: list[TimBit] = []
        self._group: set[int] = set()
        self._pending: list[PendingFrame] = []
        self._flush_frames = _FLUSH_FRAMES
        self._next_beacon = 0
        self._sequence = [0] * (1 + stations)  # last sequence numbers of access point and stations
        self._adds_acks = True
        self._values: CaptureHeaderValues
        self.times: BeaconTimes

    def join(self, topology: Topology, reports_all: bool) -> tuple[int, TimBit]:
        """Add a station, and return its association number and its TIM bit.

        *reports_all* is true if the MAC reports all kinds of frames, such as ACKs.
        """
        if not self._tims:
            self._values = CaptureHeaderValues(topology)
            self._adds_acks, self.times = not reports_all, BeaconTimes(self._values)
            self._file.write(FILE_HEADER)
        self._tims.append(TimBit())
        return len(self._tims), self._tims[-1]

    def add_group_frame(self, time_s: float) -> None:
        """Record that a group addressed frame follows the beacon at *time_s* seconds."""
        self._group.add(round(time_s / self._values.beacon_s))

    def add(self, frame: PendingFrame) -> None:
        """Add a frame."""
        self._pending.append(frame)

    def flush(self, now_s: float) -> None:
        """If many frames are pending, write the frames whose order is final at *now_s*."""
        if len(self._pending) >= self._flush_frames:
            self._write(min(tim.settled(now_s) for tim in self._tims))

    def finish(self, time_s: float) -> None:
        """Count a station as finished. After the last station, write all frames that end by *time_s*."""
        self._unfinished -= 1
        if not self._unfinished:
            self._write(nextafter(time_s, inf))

    def _write(self, until_s: float) -> None:
        """Write the frames and beacons before *until_s*."""
        self._pending.sort(key=lambda frame: frame.sort_s)
        ready = [frame for frame in self._pending if frame.sort_s < until_s]
        del self._pending[: len(ready)]
        self._flush_frames = len(self._pending) + _FLUSH_FRAMES
        last = self.times.first_heard_from(until_s)
        for frame in ready:
            self._write_beacons(last, frame.sort_s)
            number = self._count(frame.aid if frame.uplink else 0) if frame.is_numbered else 0
            self._file.write(frame_record(frame, number, self._values))
            if self._adds_acks and frame.kind in ("data", "null"):
                self._file.write(ack_record(frame, self._values))
        self._write_beacons(last, inf)

    def _write_beacons(self, last: int, before_s: float) -> None:
        """Write the beacons with numbers below *last* that are received before *before_s*."""
        while self._next_beacon < last:
            number, starts_s = self._next_beacon, self.times.start_s(self._next_beacon)
            if starts_s + self._values.beacon_air_s >= before_s:
                return
            self._next_beacon += 1
            self.times.forget(number)
            bits = sum(tim.at(number * self._values.beacon_s) << aid for aid, tim in enumerate(self._tims, 1))
            group = any(member <= number for member in self._group)
            self._group = {member for member in self._group if member > number}
            if starts_s >= 0:
                bitmap = bits.to_bytes(1 + self._stations // 8, "little")
                beacon = beacon_record(number, starts_s, self._count(0), bitmap, group, self._values)
                self._file.write(beacon)

    def _count(self, sender: int) -> int:
        """Return the next sequence number of a station, or of the access point (0)."""
        self._sequence[sender] += 1
        return (self._sequence[sender] - 1) & 0xFFF
