"""Flows: whether a request of this station is outstanding, as its driver can tell from TCP's headers."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.policies.base import Frame


class OutstandingRequests:
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
        self.segment_bytes = segment_bytes
        self._waiting: set[int] = set()

    def sent(self, frame: Frame) -> None:
        """Take note of a frame sent."""
        if frame.fin:
            self._waiting.discard(frame.flow)
        elif frame.flow >= 0 and is_useful(frame):
            self._waiting.add(frame.flow)

    def received(self, frame: Frame) -> None:
        """Take note of a frame received."""
        if frame.fin or 0 < frame.payload < self.segment_bytes:
            self._waiting.discard(frame.flow)

    def waits(self, flow: int) -> bool:
        """Say whether the flow of a number waits."""
        return flow in self._waiting

    @property
    def waiting(self) -> int:
        """The number of flows that wait."""
        return len(self._waiting)


class StationRequests(OutstandingRequests):
    """Flows that a station can keep for its policy, and two times in seconds.

    ``moved_s`` is when a frame was last sent or received, ``asked_s`` when a SYN or payload was last sent. A
    policy that needs no more has the station call neither ``sent`` nor ``received``, and look only at frames
    that can change something: most are bare acknowledgements sent, or full segments received.
    """

    last_frame_s = asked_s = 0.0

    def clear(self) -> None:
        """Begin anew, with nothing outstanding."""
        self._waiting.clear()
        self.last_frame_s = self.asked_s = 0.0

    def is_quiet(self) -> bool:
        """Say whether no flow waits: a call, which takes half the time of the property."""
        return not self._waiting

    def note_sent(self, now_s: float, flow: int, useful: bool, last: bool) -> None:
        """Take note of a frame that is useful or the last one of its flow.

        Parameters
        ----------
        now_s
            When it is sent, in seconds.
        flow
            The number of its connection; -1: of none.
        useful
            Whether it has a payload or a SYN.
        last
            Whether it closes its connection.
        """
        if useful:
            self.asked_s = now_s
        if last:
            self._waiting.discard(flow)
        elif flow >= 0:
            self._waiting.add(flow)

    @property
    def note_reply_end(self) -> Callable[[int], None]:
        """Takes note of the end of a reply, or of its connection, by the number of the flow."""
        return self._waiting.discard


def is_useful(frame: Frame) -> bool:
    """Say whether somebody waits for such a frame: one with a payload or a SYN, no bare ACK or FIN."""
    return frame.payload > 0 or frame.syn


def longest_doze(max_ms: float, beacon_s: float) -> int:
    """Return the longest doze of at most *max_ms* ms, in beacons *beacon_s* seconds apart; at least 1.

    With a margin of 1e-9 beacons, so that 1.2 s are twelve beacons of 0.1 s.
    """
    return max(1, int(max_ms / 1000 / beacon_s + 1e-9))
