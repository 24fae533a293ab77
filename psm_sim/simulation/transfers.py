"""Transfers of one station, from the first byte of a request to the last byte of its reply."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.network.segment import ConnectionId, Request, Segment
from psm_sim.network.sniffed_link import AirFrame
from psm_sim.network.tcp_endpoint import Receiver


class _Stream(Receiver):
    """Progress of the requests and replies on one connection.

    ``asked_s`` maps each sent request to its time. The next request begins at sequence number
    ``request_end``, and the next reply at ``reply_end``.
    """

    __slots__ = ("answered", "asked_s", "connection", "reply_end", "request_end")

    def __init__(self, connection: ConnectionId) -> None:
        super().__init__(at_once=1)
        self.connection = connection
        self.asked_s: dict[int, float] = {}
        self.answered = 0
        self.reply_end = self.request_end = 1

    def complete_reply(self) -> Request | None:
        """Return the next reply if it is complete. The order of replies may differ from that of requests."""
        replies = self.connection.replies
        if self.answered == len(replies) or self.next < self.reply_end + replies[self.answered].reply_bytes:
            return None
        reply = replies[self.answered]
        self.answered += 1
        self.reply_end += reply.reply_bytes
        return reply


class Transfers:
    """Transfers of one station: page objects, messages on persistent connections, and datagrams.

    Parameters
    ----------
    record
        Called for each transfer as ``record(start_s, end_s, kind, bytes, **details)``.
    """

    def __init__(self, record: Callable[..., None]) -> None:
        self._record = record
        self._streams: dict[ConnectionId, _Stream] = {}

    def air(self, frame: AirFrame) -> None:
        """Handle a frame on the wireless channel."""
        segment = frame.segment
        if segment is None or frame.kind == "null":
            return
        if segment.connection.number < 0:
            self._message("group frame" if frame.kind == "group" else "datagram", frame, segment)
        elif frame.uplink:
            self._uplink(frame, segment)
        else:
            self._downlink(frame, segment)

    def _uplink(self, frame: AirFrame, segment: Segment) -> None:
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
            request = requests[len(stream.asked_s)]
            stream.request_end += request.request_bytes
            stream.asked_s[id(request)] = frame.queued_s

    def _downlink(self, frame: AirFrame, segment: Segment) -> None:
        end = segment.end()
        stream = self._streams.get(segment.connection) if end > segment.seq else None
        if stream is None:
            return
        stream.accept(segment.seq, end, urgent=False)
        if segment.connection.requests:
            while request := stream.complete_reply():
                self._record(
                    stream.asked_s[id(request)], frame.heard_s, "reply", request.reply_bytes,
                    connection=stream.connection.number, request_bytes=request.request_bytes,
                    server_delay_s=request.server_delay_s,
                )  # fmt: skip
        elif segment.payload:
            self._message("message", frame, segment)
        if segment.fin and stream.next >= end:
            del self._streams[segment.connection]

    def _message(self, kind: str, frame: AirFrame, segment: Segment) -> None:
        direction = "from the station" if frame.uplink else "to the station"
        self._record(frame.queued_s, frame.heard_s, f"{kind} {direction}", segment.wire_bytes)
