"""Transfers: from a request on the air to the last byte of its reply, each on the first free lane."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.network.on_air import OnAir
from psm_sim.network.segment import Connection, Segment
from psm_sim.network.tcp_receiver import Receiver

Show = Callable[[int, str, float, float, str], None]
"""Shows a transfer: its lane from 0, name, begin and end in seconds, and facts as members of JSON."""


class _Stream:
    """One connection: which of its requests were sent and answered, and the bytes of the replies."""

    __slots__ = ("answered", "asked_s", "connection", "receiver", "reply_end", "request_end")

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.receiver = Receiver(delayed=False)
        self.asked_s: list[float] = []
        self.answered = 0
        self.request_end = self.reply_end = 1


class Transfers:
    """Transfers of one station: objects of pages, messages on standing connections, and datagrams."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._streams: dict[Connection, _Stream] = {}
        self._free_s: list[float] = []

    def air(self, frame: OnAir) -> None:
        """Take note of a frame."""
        segment = frame.segment
        if segment is None or frame.kind == "null":
            return
        if segment.connection.number < 0:
            self._message("group frame" if frame.kind == "group" else "datagram", frame, segment)
        elif frame.uplink:
            if segment.payload or segment.syn:
                self._sent(frame, segment)
        else:
            self._received(frame, segment)

    def _sent(self, frame: OnAir, segment: Segment) -> None:
        connection = segment.connection
        stream = self._streams.get(connection)
        if stream is None:
            if segment.syn:
                self._streams[connection] = _Stream(connection)
            return
        requests = connection.requests
        if segment.payload and not requests:
            self._message("message", frame, segment)
        while len(stream.asked_s) < len(requests) and segment.seq + segment.payload > stream.request_end:
            stream.request_end += requests[len(stream.asked_s)].request_bytes
            stream.asked_s.append(frame.queued_s)

    def _received(self, frame: OnAir, segment: Segment) -> None:
        connection = segment.connection
        stream = self._streams.get(connection)
        if stream is None:
            return
        end = segment.seq + segment.payload + segment.syn + segment.fin
        if end == segment.seq:
            return
        stream.receiver.accept(segment.seq, end, True)
        if connection.requests:
            self._answer(stream, frame.heard_s)
        elif segment.payload:
            self._message("message", frame, segment)
        if segment.fin and stream.receiver.next >= end:
            del self._streams[connection]

    def _answer(self, stream: _Stream, now_s: float) -> None:
        """Show the requests whose replies are complete."""
        requests = stream.connection.requests
        while stream.answered < len(stream.asked_s):
            request = requests[stream.answered]
            end = stream.reply_end + request.reply_bytes
            if stream.receiver.next < end:
                return
            facts = f'"request_bytes":{request.request_bytes},"server_delay_s":{request.server_delay_s:.6g}'
            name = f"connection {stream.connection.number}: {request.reply_bytes:,} B"
            self._place(name, stream.asked_s[stream.answered], now_s, facts)
            stream.answered, stream.reply_end = stream.answered + 1, end

    def _message(self, kind: str, frame: OnAir, segment: Segment) -> None:
        way = "from" if frame.uplink else "to"
        self._place(f"{kind} {way} the station: {segment.wire_bytes:,} B", frame.queued_s, frame.heard_s, "")

    def _place(self, name: str, begins_s: float, ends_s: float, facts: str) -> None:
        """Show it on the first lane that is free by then: what overlaps on one track cannot be drawn."""
        free_s = self._free_s
        lane = next((number for number, free in enumerate(free_s) if free <= begins_s), len(free_s))
        if lane == len(free_s):
            free_s.append(0.0)
        free_s[lane] = ends_s
        self._show(lane, name, begins_s, ends_s, facts)
