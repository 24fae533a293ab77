"""Flows: whether a request of this station is outstanding, as its driver can tell from TCP's headers."""

from __future__ import annotations

from psm_sim.policies.base import Frame


class Flows:
    """Flows of one station that wait for a reply.

    A flow waits from a SYN or payload sent until a FIN is received or sent, or until a payload shorter than
    a full segment is received: the end of a reply on a persistent connection. A reply that ends on a full
    segment keeps its flow waiting until something else ends it. Frames of no flow, number -1, change nothing.

    Parameters
    ----------
    segment_bytes : int
        The payload of a full segment, in bytes.
    """

    def __init__(self, segment_bytes: int = 1460) -> None:
        self._segment_bytes = segment_bytes
        self._waiting: set[int] = set()

    def sent(self, frame: Frame) -> None:
        """Take note of a frame sent."""
        if frame.fin:
            self._waiting.discard(frame.flow)
        elif frame.flow >= 0 and is_useful(frame):
            self._waiting.add(frame.flow)

    def received(self, frame: Frame) -> None:
        """Take note of a frame received."""
        if frame.fin or 0 < frame.payload < self._segment_bytes:
            self._waiting.discard(frame.flow)

    def waits(self, flow: int) -> bool:
        """Say whether the flow of a number waits."""
        return flow in self._waiting

    @property
    def waiting(self) -> int:
        """The number of flows that wait."""
        return len(self._waiting)


def is_useful(frame: Frame) -> bool:
    """Say whether somebody waits for such a frame: one with a payload or a SYN, no bare ACK or FIN."""
    return frame.payload > 0 or frame.syn


def longest_doze(max_ms: float, beacon_s: float) -> int:
    """Return the longest doze of at most *max_ms* ms, in beacons *beacon_s* seconds apart; at least 1.

    With a margin of 1e-9 beacons, so that 1.2 s are twelve beacons of 0.1 s.
    """
    return max(1, int(max_ms / 1000 / beacon_s + 1e-9))
