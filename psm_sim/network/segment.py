"""TCP segment: what travels on a link, one segment per frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from psm_sim.network.http_request import Request


@dataclass(slots=True, eq=False)
class ConnectionId:
    """The identity of one TCP connection, and the content of its byte stream.

    Segments count bytes and carry none: ``requests`` holds what the bytes of the client's stream say,
    in order, for the server to read once it has received them. ``number`` counts the connections that its
    host has opened, from 0; -1 is none of them.
    """

    requests: list[Request] = field(default_factory=list)
    number: int = -1


NULL, GROUP = ConnectionId(), ConnectionId()
"""The connections of null frames, and of group-addressed frames, which belong to none."""


@dataclass(slots=True, eq=False)
class Segment:
    """One TCP segment; ``seq`` counts SYN and FIN as one byte each, as TCP does.

    ``wire_bytes`` is the payload with its TCP/IP header; ``rst`` is true of a :class:`ResetSegment` alone.
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
        """Return one past its last sequence number."""
        after = self.seq + self.payload
        return after + 1 if self.syn or self.fin else after


BufferedFrame = tuple[float, Segment]
"""A frame that is held, after the time in seconds at which it came."""


class ResetSegment(Segment):
    """Segment that ends its connection at once (RST): its sender knows it no longer."""

    __slots__ = ()
    rst: ClassVar[bool] = True
