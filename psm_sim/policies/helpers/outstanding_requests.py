"""Outstanding requests of a station, inferred from TCP headers."""

from __future__ import annotations

from psm_sim.policies.base import Frame


class OutstandingRequests:
    """Set of the connections that wait for a reply.

    A connection waits from a SYN or payload sent until a FIN is sent or received. It also stops waiting when
    a payload shorter than a full segment is received, which marks the end of a reply on a persistent
    connection. After a reply that ends with a full segment, the connection stays in the set until another of
    these events. Frames without a connection (flow -1) are ignored.

    Parameters
    ----------
    segment_bytes : int
        Payload of a full segment, in bytes.
    """

    def __init__(self, segment_bytes: int = 1460) -> None:
        self.segment_bytes = segment_bytes
        self._waiting: set[int] = set()

    def sent(self, frame: Frame) -> None:
        """Handle a *frame* sent."""
        if frame.fin:
            self._waiting.discard(frame.flow)
        elif frame.flow >= 0 and is_useful(frame):
            self._waiting.add(frame.flow)

    def received(self, frame: Frame) -> None:
        """Handle a *frame* received."""
        if frame.fin or 0 < frame.payload < self.segment_bytes:
            self._waiting.discard(frame.flow)

    def waits(self, flow: int) -> bool:
        """Return whether the connection with number *flow* waits for a reply."""
        return flow in self._waiting

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
