"""Captures of small runs, and two readers for them: one with struct, and tshark."""

from __future__ import annotations

import io
import struct
from typing import Any, NamedTuple

from psm_sim.network import Observer, World
from psm_sim.network.parts.capture import capture_observers
from psm_sim.workload import load_workload
from tests.network.worlds import run_world


class Beacon(NamedTuple):
    """Beacon: its time in ns, DTIM count and period, and the TIM bits of group frames and of the station.

    ``begun_us`` is the time of its first bit, ``named`` has the association IDs whose TIM bits are set.
    """

    time_ns: int
    dtim_count: int
    period: int
    group: bool
    names: bool
    begun_us: int = 0
    tim_bit: frozenset[int] = frozenset()


class Frame(NamedTuple):
    """Frame other than a beacon: kind, direction, bits, bytes of the IP packet, and rate in half Mbit/s.

    ``station`` is the last two bytes of the station's MAC address, or 0 if the frame has no such address.
    """

    time_ns: int
    kind: str
    up: bool
    sleeps: bool
    more: bool
    order: int
    ip: bytes
    retry: bool = False
    begun_us: int = 0
    rate: int = 0
    station: int = 0


class Log(Observer):
    """Record the frames that a run reports to observers: reception times and repetitions."""

    def __init__(self) -> None:
        self.down: list[Any] = []
        self.up: list[Any] = []
        self.again: set[Any] = set()
        self._highest: dict[Any, int] = {}

    def frame(self, link, queued_s, arrives_s, segment):
        if link.name in ("wired down", "wireless up"):
            key, end = (
                (link.name, segment.connection),
                segment.seq + segment.payload + segment.syn + segment.fin,
            )
            if segment.seq < min(end, self._highest.get(key, 0)):
                self.again.add(segment)
            self._highest[key] = max(end, self._highest.get(key, 0))
        if link.name == "wireless down":
            self.down.append((arrives_s, segment))
        elif link.name == "wireless up":
            self.up.append((link.free_at, segment))


def run(policy="psm", pages=6, trace="ucb", observers=(), **more):
    """Return a world that has loaded pages of a trace."""
    workload = load_workload(trace, pages, 1)
    return run_world(workload.pages, policy, observers, workload.messages, **more)


def captured(policy="psm", **more) -> tuple[World, Log, bytes]:
    """Return a world after its run, the log of its links, and the capture."""
    file, log = io.BytesIO(), Log()
    world = run(policy, observers=[*capture_observers(file, 1), log], **more)
    return world, log, file.getvalue()


def records(data: bytes) -> list[Beacon | Frame]:
    """Return the frames of a capture that psm_sim has written; fail on anything unexpected."""
    magic, _, _, _, _, _, link = struct.unpack_from("<IHHiIII", data)
    assert (magic, link) == (0xA1B23C4D, 127)
    at = 24
    frames: list[Beacon | Frame] = []
    while at < len(data):
        seconds, nanoseconds, captured_bytes, length = struct.unpack_from("<IIII", data, at)
        assert captured_bytes == length
        assert nanoseconds < 10**9
        tap = struct.unpack_from("<H", data, at + 18)[0]
        begun_us, _, rate = struct.unpack_from("<QBB", data, at + 24)
        head = (10**9 * seconds + nanoseconds, begun_us, rate)
        frames.append(_record(head, data[at + 16 + tap : at + 16 + length]))
        at += 16 + length
    assert at == len(data)
    return frames


def _record(head: tuple[int, int, int], frame: bytes) -> Beacon | Frame:
    time_ns, begun_us, rate = head
    control, bits = frame[0], frame[1]
    if control == 0x80:
        elements: dict[int, bytes] = {}
        position = 36
        while position < len(frame):
            elements[frame[position]] = frame[position + 2 : position + 2 + frame[position + 1]]
            position += 2 + frame[position + 1]
        count, period, group, *octets = elements[5]
        named = [
            8 * position + bit
            for position, octet in enumerate(octets)
            for bit in range(8)
            if octet >> bit & 1
        ]
        assert struct.unpack_from("<Q", frame, 24)[0] == begun_us
        return Beacon(time_ns, count, period, bool(group & 1), named == [1], begun_us, frozenset(named))
    kind = {0x08: "data", 0x48: "null", 0xA4: "ps-poll", 0xD4: "ack"}[control]
    order = struct.unpack_from("<H", frame, 22)[0] >> 4 if kind in ("data", "null") else -1
    up = bool(bits & 1) or kind == "ps-poll"
    sleeps, more, retry = bool(bits & 0x10), bool(bits & 0x20), bool(bits & 8)
    addresses = [int.from_bytes(frame[at : at + 6], "big") & 0xFFFF for at in (4, 10) if len(frame) > at]
    station = next((address for address in addresses if address not in (1, 0xFFFF)), 0)
    return Frame(time_ns, kind, up, sleeps, more, order, frame[32:], retry, begun_us, rate, station)


def frames_of(data: bytes, kind: str = "") -> list[Frame]:
    """Return the frames other than beacons, or those of one kind."""
    return [record for record in records(data) if isinstance(record, Frame) and kind in ("", record.kind)]


def beacons_of(data: bytes) -> list[Beacon]:
    return [record for record in records(data) if isinstance(record, Beacon)]
