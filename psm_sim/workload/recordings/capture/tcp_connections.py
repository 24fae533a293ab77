"""TCP connections of a capture: their numbers, and their requests, replies and pages.

A request is the data that the client sends on a connection before the other side sends. The reply is the data
that the other side sends before the client sends again. Retransmitted bytes are counted once, by their
sequence numbers.

A new page begins after an idle period, as in Mah's model, in which any gap over 1 s is a think time (B. Mah,
An empirical model of HTTP network traffic, INFOCOM 1997).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.capture.frame_batch import IntArray
from psm_sim.workload.recordings.capture.ip_packets import ACK, SYN, TCP
from psm_sim.workload.recordings.capture.packet_capture import PacketCapture
from psm_sim.workload.recordings.recording import Recording


def connection_numbers(capture: PacketCapture) -> IntArray:
    """Return the number of the TCP connection of each packet, from 0 in the order of opening, shape (n,).

    Packets that are not TCP or have no ports get -1. A connection begins with the first packet between two
    ports of two hosts, and again with each SYN of another initial sequence number.
    """
    rows = capture.rows
    numbers = np.full(rows.size, -1, np.int64)
    (tcp,) = np.nonzero((rows["protocol"] == TCP) & (rows["source_port"] > 0))
    if not tcp.size:
        return numbers
    keys = _keys(rows[tcp], capture.uplink[tcp])
    order = np.lexsort(keys)
    rows = rows[tcp[order]]
    begins = np.append(True, np.any([np.diff(key[order]) != 0 for key in keys], axis=0))
    hosts = np.cumsum(begins)
    (syns,) = np.nonzero(rows["flags"] & (SYN | ACK) == SYN)
    repeated = (np.diff(rows["sequence"][syns]) == 0) & (np.diff(hosts[syns]) == 0)
    begins[syns[np.append(True, ~repeated)[: syns.size]]] = True
    opened = tcp[order[begins]]
    rank = np.empty(opened.size, np.int64)
    rank[np.argsort(opened)] = np.arange(opened.size)
    numbers[tcp[order]] = rank[np.cumsum(begins) - 1]
    return numbers


def _keys(rows: NDArray[np.void], up: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return both ports of packets in one number, the client's first, and the peers, shape (n,) each."""
    ports = rows["source_port"].astype(np.int64), rows["target_port"].astype(np.int64)
    own, other = np.where(up, ports, ports[::-1])
    return (own << 16) | other, np.where(up, rows["target"], rows["source"])


_WRAP = 1 << 32
_MAX_JUMP = 1 << 20
_MAX_US = 2**31 - 1


class Exchange(NamedTuple):
    """Request and reply on a TCP connection.

    Attributes
    ----------
    start_us, end_us
        Times of the request's first packet and of the reply's last packet, in microseconds.
    request_bytes, reply_bytes
        Sizes of request and reply, in bytes.
    delay_us
        Microseconds from the last packet of the request to the first packet of the reply.
    """

    start_us: int
    end_us: int
    request_bytes: int
    reply_bytes: int
    delay_us: int


@dataclass
class _Stream:
    """One direction of a connection, with the sequence number of the next new byte."""

    next_sequence: int | None = None

    def new_bytes(self, sequence: int, payload: int, is_syn: bool) -> int:
        """Return the number of bytes in a segment that were not seen before.

        Parameters
        ----------
        sequence
            Sequence number of the segment.
        payload
            Size of its data in bytes.
        is_syn
            Whether it is a SYN segment.
        """
        if is_syn:
            self.next_sequence = (sequence + 1) % _WRAP
            return payload
        end = (sequence + payload) % _WRAP
        advance = (end - self.next_sequence) % _WRAP if self.next_sequence is not None else payload
        if advance >= _WRAP // 2:
            return 0
        self.next_sequence = end
        # Count bytes missing in the capture as sent. A jump beyond any window belongs to another stream.
        return advance if advance <= _MAX_JUMP else payload


@dataclass
class _Connection:
    """Current exchange of a connection."""

    up: _Stream = field(default_factory=_Stream)
    down: _Stream = field(default_factory=_Stream)
    request_us: int = 0  # times of the request's first and last packet
    request_end_us: int = 0
    reply_us: int = 0  # times of the reply's first and last packet
    end_us: int = 0
    request: int = 0
    reply: int = 0

    def close(self, exchanges: list[Exchange]) -> int:
        """End the exchange and append it to *exchanges*. Return the bytes of an unanswered request."""
        unanswered = 0 if self.reply else self.request
        if self.reply:
            delay_us = min(max(self.reply_us - self.request_end_us, 0), _MAX_US) if self.request else 0
            exchanges.append(Exchange(self.request_us, self.end_us, self.request, self.reply, delay_us))
        self.request = self.reply = 0
        return unanswered

    def sent(self, time_us: int, size: int, exchanges: list[Exchange]) -> None:
        """Handle *size* new bytes from the client, which end the previous exchange."""
        if self.reply:
            self.close(exchanges)
        if not self.request:
            self.request_us = time_us
        self.request, self.request_end_us = self.request + size, time_us

    def received(self, time_us: int, size: int) -> None:
        """Handle *size* new bytes from the other side, which may send without a request."""
        if not self.reply:
            self.reply_us = time_us
            self.request_us = self.request_us if self.request else time_us
        self.reply, self.end_us = self.reply + size, time_us


def exchanges_of(capture: PacketCapture) -> tuple[list[Exchange], tuple[str, ...]]:
    """Return the exchanges of the client's TCP connections in order, and notes on omitted data."""
    rows = capture.rows
    tcp = np.flatnonzero((rows["protocol"] == TCP) & ((rows["payload"] > 0) | (rows["flags"] & SYN > 0)))
    connections: dict[tuple[int, int, int], _Connection] = {}
    exchanges, unanswered = list[Exchange](), 0
    for up, time_us, server, ports, sequence, payload, flags in _segments(capture, tcp):
        key = (server, *ports)
        connection = connections.setdefault(key, _Connection())
        if flags == SYN:  # a SYN without ACK: the ports are reused for a new connection
            unanswered += connection.close(exchanges)
            connection.up, connection.down = _Stream(), _Stream()
        new_bytes = (connection.up if up else connection.down).new_bytes(sequence, payload, flags > 0)
        if new_bytes and up:
            connection.sent(time_us, new_bytes, exchanges)
        elif new_bytes:
            connection.received(time_us, new_bytes)
    unanswered += sum(connection.close(exchanges) for connection in connections.values())
    exchanges.sort()
    other = rows.size - int((rows["protocol"] == TCP).sum())
    notes = [f"{other:,} packets that are not TCP were omitted"] if other else []
    notes += [f"{unanswered:,} bytes sent without a reply were omitted"] if unanswered else []
    return exchanges, tuple(notes)


def _segments(capture: PacketCapture, chosen: NDArray[np.intp]):  # type: ignore[no-untyped-def]
    """Yield the selected segments as (uplink, time, server, ports, sequence, payload, flags)."""
    rows, up = capture.rows[chosen], capture.uplink[chosen]
    time_us = (rows["time_ns"] - capture.rows["time_ns"][0]) // 1000
    server = np.where(up, rows["target"], rows["source"])
    own = np.where(up, rows["source_port"], rows["target_port"])
    other = np.where(up, rows["target_port"], rows["source_port"])
    ports = zip(own.tolist(), other.tolist(), strict=True)
    flags = np.where(rows["flags"] & SYN > 0, rows["flags"] & (SYN | ACK), 0)
    columns = (column.tolist() for column in (rows["sequence"], rows["payload"], flags))
    return zip(up.tolist(), time_us.tolist(), server.tolist(), ports, *columns, strict=True)


def recording_of(capture: PacketCapture, gap_s: float) -> Recording:
    """Return the exchanges of a capture as pages.

    A new page begins after an idle period of more than *gap_s* seconds.

    Raises
    ------
    InputError
        If no request of the client has a reply over TCP.
    """
    exchanges, notes = exchanges_of(capture)
    if not exchanges:
        notes_text = "; ".join((*notes, *capture.warnings))
        raise InputError(
            f"The capture of {capture.client} must have a request over TCP with a reply, got none"
            f"{f' ({notes_text})' if notes_text else ''}; use mode=open."
        )
    start, end, request, reply, delay = np.array(exchanges, np.int64).T
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
