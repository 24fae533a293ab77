"""Outstanding requests of a station, inferred from TCP headers."""

from __future__ import annotations

from psm_sim.policies.base import Frame

DEFAULT_MSS = 536
"""Maximum segment size of a connection whose SYN is unknown, in bytes (RFC 9293, section 3.7.1)."""


class OutstandingRequests:
    """Set of the connections that wait for a reply.

    A connection waits from a SYN or payload sent until a FIN is sent or received. It also stops waiting when
    a payload shorter than a full segment is received, which marks the end of a reply on a persistent
    connection. After a reply that ends with a full segment, the connection stays in the set until another of
    these events. Frames without a connection (flow -1) are ignored.

    The size of a full segment is the smaller MSS of the connection's two SYNs. If none is known, it is the
    largest payload received on the connection, or :data:`DEFAULT_MSS` if that is larger.
    """

    def __init__(self) -> None:
        self._waiting: set[int] = set()
        self._segment_bytes: dict[int, int] = {}

    def sent(self, frame: Frame) -> None:
        """Handle a *frame* sent."""
        if frame.fin:
            self._end(frame.flow)
        elif frame.flow >= 0 and is_useful(frame):
            self._waiting.add(frame.flow)
            self._note_mss(frame)

    def received(self, frame: Frame) -> None:
        """Handle a *frame* received."""
        flow, payload = frame.flow, frame.payload
        if flow < 0:
            return
        if frame.fin:
            self._end(flow)
        elif payload:
            if payload < self._segment_bytes.get(flow, DEFAULT_MSS):
                self._waiting.discard(flow)
            else:
                self._segment_bytes[flow] = payload
        self._note_mss(frame)

    def waits(self, flow: int) -> bool:
        """Return whether the connection with number *flow* waits for a reply."""
        return flow in self._waiting

    def _note_mss(self, frame: Frame) -> None:
        if frame.syn and frame.mss:
            self._segment_bytes[frame.flow] = min(frame.mss, self._segment_bytes.get(frame.flow, frame.mss))

    def _end(self, flow: int) -> None:
        self._waiting.discard(flow)
        self._segment_bytes.pop(flow, None)

    @property
    def waiting(self) -> int:
        """Number of connections that wait for a reply."""
        return len(self._waiting)


def is_useful(frame: Frame) -> bool:
    """Return whether *frame* has a payload or a SYN, unlike a pure ACK or FIN."""
    return frame.payload > 0 or frame.syn


def longest_doze(max_ms: float, beacon_s: float) -> int:
    """Return the longest doze of at most *max_ms* ms, in beacons, at least 1.

    The beacons are *beacon_s* seconds apart. A margin of 1e-9 beacons makes 1.2 s twelve beacons of 0.1 s.
    """
    return max(1, int(max_ms / 1000 / beacon_s + 1e-9))
