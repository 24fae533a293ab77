"""Captures of small runs, and two readers of them: a few lines of struct, and tshark."""

from __future__ import annotations

import io
import struct
from typing import Any, NamedTuple

from psm_sim.network import Observer, World, build_world, load_topology, run_alone
from psm_sim.network.parts.capture import capture_observers
from psm_sim.policies import make_policy
from psm_sim.workload import load_workload


class Beacon(NamedTuple):
    """A beacon: its time in ns, DTIM count and period, and whether it names group frames and the station.

    ``begun_us`` is when its first bit was sent, ``named`` has the associations that it names.
    """

    time_ns: int
    dtim_count: int
    period: int
    group: bool
    names: bool
    begun_us: int = 0
    tim_bit: frozenset[int] = frozenset()


class Frame(NamedTuple):
    """Another frame: its kind, direction and bits, the bytes of its IP packet; its rate is in half Mbit/s.

    ``station`` is the last two bytes of the station's MAC address, as far as the frame has it, else 0.
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
    """Keeps what a run says of its frames, beside the capture: when each was heard, and if again."""

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


def run(policy="psm", pages=6, trace="ucb", topology="three-node", observers=(), **settings):
    """Return a world after its run."""
    made = make_policy(policy) if isinstance(policy, str) else policy
    dotted = {key.replace("__", "."): value for key, value in settings.items()}
    world = build_world(load_topology(topology, dotted), made, list(observers))
    workload = load_workload(trace, pages, 1)
    run_alone(world, workload.pages, workload.messages)
    return world


def captured(policy="psm", **more) -> tuple[World, Log, bytes]:
    """Return a world after its run, what its links said, and the capture."""
    file, log = io.BytesIO(), Log()
    world = run(policy, observers=[*capture_observers(file, 1), log], **more)
    return world, log, file.getvalue()


def records(data: bytes) -> list[Beacon | Frame]:
    """Return the frames of a capture of ours; whatever is odd in it fails."""
    magic, _, _, _, _, _, link = struct.unpack_from("<IHHiIII", data)
    assert (magic, link) == (0xA1B23C4D, 127)
    at = 24
    found: list[Beacon | Frame] = []
    while at < len(data):
        seconds, nanoseconds, kept, length = struct.unpack_from("<IIII", data, at)
        assert kept == length
        assert nanoseconds < 10**9
        tap = struct.unpack_from("<H", data, at + 18)[0]
        begun_us, _, rate = struct.unpack_from("<QBB", data, at + 24)
        head = (10**9 * seconds + nanoseconds, begun_us, rate)
        found.append(_record(head, data[at + 16 + tap : at + 16 + length]))
        at += 16 + length
    assert at == len(data)
    return found


def _record(head: tuple[int, int, int], frame: bytes) -> Beacon | Frame:
    time_ns, begun_us, rate = head
    control, bits = frame[0], frame[1]
    if control == 0x80:
        elements: dict[int, bytes] = {}
        place = 36
        while place < len(frame):
            elements[frame[place]] = frame[place + 2 : place + 2 + frame[place + 1]]
            place += 2 + frame[place + 1]
        count, period, group, *octets = elements[5]
        named = [
            8 * place + bit for place, octet in enumerate(octets) for bit in range(8) if octet >> bit & 1
        ]
        assert struct.unpack_from("<Q", frame, 24)[0] == begun_us
        return Beacon(time_ns, count, period, bool(group & 1), named == [1], begun_us, frozenset(named))
    kind = {0x08: "data", 0x48: "null", 0xA4: "ps-poll", 0xD4: "ack"}[control]
    order = struct.unpack_from("<H", frame, 22)[0] >> 4 if kind in ("data", "null") else -1
    up = bool(bits & 1) or kind == "ps-poll"
    sleeps, more, retry = bool(bits & 0x10), bool(bits & 0x20), bool(bits & 8)
    addresses = [int.from_bytes(frame[at : at + 6], "big") & 0xFFFF for at in (4, 10) if len(frame) > at]
    station = next((each for each in addresses if each not in (1, 0xFFFF)), 0)
    return Frame(time_ns, kind, up, sleeps, more, order, frame[32:], retry, begun_us, rate, station)


def frames_of(data: bytes, kind: str = "") -> list[Frame]:
    """Return all but the beacons, or those of one kind."""
    return [each for each in records(data) if isinstance(each, Frame) and kind in ("", each.kind)]


def beacons_of(data: bytes) -> list[Beacon]:
    return [each for each in records(data) if isinstance(each, Beacon)]
