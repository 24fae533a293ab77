"""Exchanges of a capture: requests and replies, reconstructed per TCP connection, and pages of them.

What the client sends on a connection until the other side sends is a request; what that side sends until the
client does again is the reply. Bytes that were sent again are counted once, by their sequence numbers. A
silence begins a new page, as in Mah's model, in which any gap of over 1 s is think time (B. Mah, An empirical
model of HTTP network traffic, INFOCOM 1997).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.errors import InputError
from psm_sim.workload.recordings.capture.ip_packets import TCP
from psm_sim.workload.recordings.capture.reader import PacketCapture
from psm_sim.workload.recordings.recording import Recording

_SYN, _ACK = 2, 16
_WRAP = 1 << 32
_MAX_JUMP = 1 << 20
_MAX_US = 2**31 - 1


class Exchange(NamedTuple):
    """Exchange: when its request began, and its reply's last packet came (microseconds), sizes and delay."""

    start_us: int
    end_us: int
    request_bytes: int
    reply_bytes: int
    delay_us: int


@dataclass
class _Stream:
    """One direction of a connection: what is the next byte not yet seen."""

    following: int | None = None

    def new_bytes(self, sequence: int, payload: int, begins: bool) -> int:
        """Return how many bytes of a segment were not seen before."""
        if begins:
            self.following = (sequence + 1) % _WRAP
            return payload
        end = (sequence + payload) % _WRAP
        ahead = (end - self.following) % _WRAP if self.following is not None else payload
        if ahead >= _WRAP // 2:
            return 0
        self.following = end
        # Bytes that are missing in the capture were sent; a jump beyond any window is another stream.
        return ahead if ahead <= _MAX_JUMP else payload


@dataclass
class _Connection:
    """Exchanges of one connection, in order; the last one may still go on."""

    up: _Stream = field(default_factory=_Stream)
    down: _Stream = field(default_factory=_Stream)
    asked_us: int = 0  # when the request's first and last packet were sent
    last_us: int = 0
    answered_us: int = 0  # when the reply's first and last packet came
    end_us: int = 0
    request: int = 0
    reply: int = 0

    def close(self, found: list[Exchange]) -> int:
        """End the exchange; return the bytes of a request without a reply, which is none."""
        unanswered = 0 if self.reply else self.request
        if self.reply:
            delay_us = min(max(self.answered_us - self.last_us, 0), _MAX_US) if self.request else 0
            found.append(Exchange(self.asked_us, self.end_us, self.request, self.reply, delay_us))
        self.request = self.reply = 0
        return unanswered

    def sent(self, time_us: int, size: int, found: list[Exchange]) -> None:
        """Note bytes of the client."""
        if self.reply:
            self.close(found)
        if not self.request:
            self.asked_us = time_us
        self.request, self.last_us = self.request + size, time_us

    def received(self, time_us: int, size: int) -> None:
        """Note bytes of the other side; without a request it began of its own."""
        if not self.reply:
            self.answered_us = time_us
            self.asked_us = self.asked_us if self.request else time_us
        self.reply, self.end_us = self.reply + size, time_us


def exchanges_of(capture: PacketCapture) -> tuple[list[Exchange], tuple[str, ...]]:
    """Return the exchanges of the client's TCP connections in order, and notes of what was left out."""
    rows = capture.rows
    tcp = np.flatnonzero((rows["protocol"] == TCP) & ((rows["payload"] > 0) | (rows["flags"] & _SYN > 0)))
    connections: dict[tuple[int, int, int], _Connection] = {}
    found, unanswered = list[Exchange](), 0
    for up, time_us, server, ports, sequence, payload, flags in _segments(capture, tcp):
        key = (server, *ports)
        each = connections.setdefault(key, _Connection())
        if flags == _SYN:  # without an ACK: the ports are used again
            unanswered += each.close(found)
            each.up, each.down = _Stream(), _Stream()
        new = (each.up if up else each.down).new_bytes(sequence, payload, flags > 0)
        if new and up:
            each.sent(time_us, new, found)
        elif new:
            each.received(time_us, new)
    unanswered += sum(each.close(found) for each in connections.values())
    found.sort()
    other = rows.size - int((rows["protocol"] == TCP).sum())
    notes = [f"{other:,} packets that are not TCP are left out"] if other else []
    notes += [f"{unanswered:,} bytes sent without a reply are left out"] if unanswered else []
    return found, tuple(notes)


def _segments(capture: PacketCapture, chosen: NDArray[np.intp]):  # type: ignore[no-untyped-def]
    """Yield the client's segments that matter, as plain numbers."""
    rows, up = capture.rows[chosen], capture.uplink[chosen]
    time_us = (rows["time_ns"] - capture.rows["time_ns"][0]) // 1000
    server = np.where(up, rows["target"], rows["source"])
    own = np.where(up, rows["source_port"], rows["target_port"])
    other = np.where(up, rows["target_port"], rows["source_port"])
    ports = zip(own.tolist(), other.tolist(), strict=True)
    flags = np.where(rows["flags"] & _SYN > 0, rows["flags"] & (_SYN | _ACK), 0)
    columns = (each.tolist() for each in (rows["sequence"], rows["payload"], flags))
    return zip(up.tolist(), time_us.tolist(), server.tolist(), ports, *columns, strict=True)


def recording_of(capture: PacketCapture, gap_s: float) -> Recording:
    """Return the exchanges of a capture as pages: those of each page begin at most *gap_s* s after activity.

    Raises
    ------
    InputError
        If no request of the client was answered over TCP.
    """
    found, notes = exchanges_of(capture)
    if not found:
        words = "; ".join((*notes, *capture.warnings))
        raise InputError(
            f"The capture of {capture.client} has no request over TCP that was answered"
            f"{f' ({words})' if words else ''}; expected one, or mode=open."
        )
    start, end, request, reply, delay = np.array(found, np.int64).T
    ended = np.maximum.accumulate(end)
    waits_us = start[1:] - ended[:-1]
    main = np.flatnonzero(np.append(True, waits_us > gap_s * 1e6))
    return Recording(
        format=capture.format,
        clients=(capture.client,),
        page_client=np.zeros(main.size, np.int32),
        think_s=np.append(np.nan, waits_us[main[1:] - 1] / 1e6),
        first=np.append(main, start.size),
        size=np.minimum(reply, 2**32 - 1).astype(np.uint32),
        delay_us=delay.astype(np.int32),
        request_bytes=np.minimum(request, 2**31 - 1).astype(np.int32),
        records=capture.rows.size,
        span_s=float(capture.at_s[-1]),
        warnings=(*capture.warnings, *notes),
    )
