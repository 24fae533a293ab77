"""Transfers of a station, each from its request to the last byte of the reply."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.network.air_frame import AirFrame
from psm_sim.network.segment import ConnectionId, Request, Segment

SliceCallback = Callable[[int, str, float, float, str], None]
"""Draw a transfer, given its lane from 0, name, start and end in seconds, and JSON members."""


class _Stream:
    """Progress of the requests and replies on one connection.

    ``next`` is the next expected sequence number, and ``islands`` are the ranges received beyond it.
    ``asked_s`` are the times of the requests that were sent, ``request_end`` and ``reply_end`` the sequence
    numbers at which the next request and the next reply begin.
    """

    __slots__ = ("answered", "asked_s", "connection", "islands", "next", "reply_end", "request_end")

    def __init__(self, connection: ConnectionId) -> None:
        self.connection = connection
        self.asked_s: dict[int, float] = {}
        self.answered = self.next = 0
        self.islands: list[tuple[int, int]] = []
        self.reply_end = self.request_end = 1

    def accept(self, start: int, end: int) -> None:
        """Accept the sequence numbers from *start* to *end*, exclusive."""
        self.islands.append((start, end))
        while reached := [island for island in self.islands if island[0] <= self.next]:
            self.islands = [island for island in self.islands if island[0] > self.next]
            self.next = max(self.next, *(island[1] for island in reached))

    def complete_reply(self) -> Request | None:
        """Return the next reply if it is complete. Replies can come in another order than their requests."""
        replies = self.connection.replies
        if self.answered == len(replies) or self.next < self.reply_end + replies[self.answered].reply_bytes:
            return None
        reply = replies[self.answered]
        self.answered += 1
        self.reply_end += reply.reply_bytes
        return reply


class Transfers:
    """Transfers of one station: page objects, messages on persistent connections, and datagrams."""

    def __init__(self, show: SliceCallback) -> None:
        self._show = show
        self._streams: dict[ConnectionId, _Stream] = {}
        self._free_s: list[float] = []

    def air(self, frame: AirFrame) -> None:
        """Handle a frame on the wireless channel."""
        segment = frame.segment
        if segment is None or frame.kind == "null":
            return
        times_s = frame.queued_s, frame.starts_s, frame.air_s, frame.heard_s
        if segment.connection.number >= 0:
            self.air_data(frame.uplink, *times_s, segment)
        else:
            kind = "group frame" if frame.kind == "group" else "datagram"
            self._message(kind, frame.uplink, frame.queued_s, frame.heard_s, segment)

    def air_data(
        self, up: bool, queued_s: float, starts_s: float, air_s: float, heard_s: float, segment: Segment
    ) -> None:
        """Handle a TCP segment.

        Parameters
        ----------
        up, queued_s, starts_s, air_s, heard_s, segment
            As for :class:`~psm_sim.network.air_frame.AirFrame`.
        """
        if up:
            if segment.payload or segment.syn:
                self._handle_uplink(queued_s, heard_s, segment)
            return
        seq, fin = segment.seq, segment.fin
        end = seq + segment.payload + segment.syn + fin
        stream = self._streams.get(segment.connection) if end > seq else None
        if stream is None:
            return
        if seq == stream.next and not stream.islands:
            stream.next = end
        else:
            stream.accept(seq, end)
        if segment.connection.requests:
            self._draw_answered(stream, heard_s)
        elif segment.payload:
            self._message("message", up, queued_s, heard_s, segment)
        if fin and stream.next >= end:
            del self._streams[segment.connection]

    def _handle_uplink(self, queued_s: float, heard_s: float, segment: Segment) -> None:
        connection = segment.connection
        stream = self._streams.get(connection)
        if stream is None:
            if segment.syn:
                self._streams[connection] = _Stream(connection)
            return
        requests = connection.requests
        if segment.payload and not requests:
            self._message("message", True, queued_s, heard_s, segment)
        while len(stream.asked_s) < len(requests) and segment.seq + segment.payload > stream.request_end:
            request = requests[len(stream.asked_s)]
            stream.request_end += request.request_bytes
            stream.asked_s[id(request)] = queued_s

    def _draw_answered(self, stream: _Stream, now_s: float) -> None:
        """Draw the requests whose replies are complete."""
        while request := stream.complete_reply():
            facts = f'"request_bytes":{request.request_bytes},"server_delay_s":{request.server_delay_s:.6g}'
            name = f"connection {stream.connection.number}: {request.reply_bytes:,} B"
            self._draw(name, stream.asked_s[id(request)], now_s, facts)

    def _message(self, kind: str, up: bool, queued_s: float, heard_s: float, segment: Segment) -> None:
        direction = "from" if up else "to"
        self._draw(f"{kind} {direction} the station: {segment.wire_bytes:,} B", queued_s, heard_s, "")

    def _draw(self, name: str, begins_s: float, ends_s: float, facts: str) -> None:
        """Draw a transfer on the first free lane, because slices on one track must not overlap."""
        free_s = self._free_s
        lane = next((number for number, free in enumerate(free_s) if free <= begins_s), len(free_s))
        if lane == len(free_s):
            free_s.append(0.0)
        free_s[lane] = ends_s
        self._show(lane, name, begins_s, ends_s, facts)
