"""Outstanding requests of a station, inferred from TCP headers."""

from __future__ import annotations

from psm_sim.policies.base import Frame

USUAL_MSS = 1460
"""Payload of a full segment on Ethernet, in bytes, assumed if no SYN states the MSS."""
LEAST_MSS = 536
"""Payload of a full segment that every path carries, in bytes (RFC 9293, section 3.7.1)."""


class OutstandingRequests:
    """Set of the connections that wait for a reply.

    A connection begins to wait when it sends a SYN or payload. It stops when a FIN is sent or received. It
    also stops when a payload shorter than a full segment is received, which marks the end of a reply on a
    persistent connection. A reply that ends with a full segment is not recognised as complete, and its
    connection stays in the set. Frames without a connection (flow -1) are ignored.

    A full segment has the smaller MSS of the connection's two SYNs. A peer can send smaller segments: if a
    payload of the same size follows a supposed end, this size is taken as the size of a full segment, and the
    reply goes on.
    """

    def __init__(self) -> None:
        self._waiting: set[int] = set()
        self._segment_bytes: dict[int, int] = {}
        self._ended_with: dict[int, int] = {}

    def sent(self, frame: Frame) -> None:
        """Handle a *frame* sent."""
        if frame.fin:
            self._forget(frame.flow)
        elif frame.flow >= 0 and is_useful(frame):
            self._waiting.add(frame.flow)
            self._ended_with.pop(frame.flow, None)
            self._note_mss(frame)

    def received(self, frame: Frame) -> None:
        """Handle a *frame* received."""
        flow, payload = frame.flow, frame.payload
        if frame.fin:
            self._forget(flow)
        elif flow >= 0 and payload:
            if payload == self._ended_with.get(flow) and payload >= LEAST_MSS:
                self._segment_bytes[flow] = payload
                self._waiting.add(flow)
            if payload >= self._segment_bytes.get(flow, USUAL_MSS):
                self._ended_with.pop(flow, None)
            elif flow in self._waiting:
                self._waiting.discard(flow)
                self._ended_with[flow] = payload
        self._note_mss(frame)

    def waits(self, flow: int) -> bool:
        """Return whether the connection with number *flow* waits for a reply."""
        return flow in self._waiting

    @property
    def waiting(self) -> int:
        """Number of connections that wait for a reply."""
        return len(self._waiting)

    def _note_mss(self, frame: Frame) -> None:
        if frame.syn and frame.mss:
            self._segment_bytes[frame.flow] = min(frame.mss, self._segment_bytes.get(frame.flow, frame.mss))

    def _forget(self, flow: int) -> None:
        self._waiting.discard(flow)
        self._segment_bytes.pop(flow, None)
        self._ended_with.pop(flow, None)


def is_useful(frame: Frame) -> bool:
    """Return whether *frame* has a payload or a SYN, unlike a pure ACK or FIN."""
    return frame.payload > 0 or frame.syn


def longest_doze(max_ms: float, beacon_s: float) -> int:
    """Return how many beacon intervals of *beacon_s* seconds fit into *max_ms*, at least 1.

    A margin for rounding errors ensures that, for example, 1.2 s are twelve intervals of 0.1 s.
    """
    return max(1, int(max_ms / 1000 / beacon_s + 1e-9))
