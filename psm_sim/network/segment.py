"""TCP segments, and the connections to which they belong. Each frame on a link carries one segment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from psm_sim.policies import Frame


class Request(NamedTuple):
    """HTTP request for one object.

    Attributes
    ----------
    request_bytes, reply_bytes : int
        Sizes of the request and of its reply.
    server_delay_s : float
        Time in seconds that the server needs before it replies.
    closes : bool
        Whether the server closes the connection after the reply.
    object_index : int
        Index of the object in a page with dependencies.
    """

    request_bytes: int
    reply_bytes: int
    server_delay_s: float
    closes: bool = False
    object_index: int = 0


@dataclass(slots=True, eq=False)
class ConnectionId:
    """Identity of a TCP connection, with its requests and replies.

    Attributes
    ----------
    requests : list of Request
        Requests in the client's byte stream, in order. Segments have no content, so the server reads a
        request here once enough bytes have arrived.
    replies : list of Request
        Answered requests, in the order of the replies. From these, the client knows which object a reply
        contains.
    number : int
        Number of the connection in the order of opening by its host, from 0; -1 if no host opened it.
    """

    requests: list[Request] = field(default_factory=list)
    number: int = -1
    replies: list[Request] = field(default_factory=list)


NULL, GROUP = ConnectionId(), ConnectionId()
"""Placeholder connections of null data frames and of group addressed frames."""

NULL_BYTES = 28
"""Size of a null data frame (IEEE 802.11-2020, 9.3.2.1: header and frame check)."""


@dataclass(slots=True, eq=False)
class Segment:
    """TCP segment. As in TCP, SYN and FIN take one sequence number each.

    ``wire_bytes`` is the size of the payload and its TCP/IP header. ``rst`` is true for a
    :class:`ResetSegment` only.
    """

    rst: ClassVar[bool] = False

    connection: ConnectionId
    seq: int
    payload: int
    ack: int
    syn: bool
    fin: bool
    wire_bytes: int

    def end(self) -> int:
        """Return the sequence number after the last one of the segment."""
        after = self.seq + self.payload
        return after + 1 if self.syn or self.fin else after


def null_frame() -> Segment:
    """Return a null data frame, which carries no payload."""
    return Segment(NULL, 0, 0, 0, False, False, NULL_BYTES)


def is_null(segment: Segment) -> bool:
    """Return whether a frame is a null data frame. The access point does not forward it."""
    return segment.connection is NULL


BufferedFrame = tuple[float, Segment]
"""Arrival time in seconds and content of a frame that the access point buffers."""


class ResetSegment(Segment):
    """Segment that resets its connection (RST)."""

    __slots__ = ()
    rst: ClassVar[bool] = True


class RecordedPacket(Segment):
    """Datagram that replays a recorded TCP packet.

    Attributes
    ----------
    frame : Frame
        Fields of the recorded packet that a driver can observe.
    """

    __slots__ = ("frame",)

    frame: Frame
