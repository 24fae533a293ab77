"""Outstanding requests of a station, inferred from TCP headers."""

from __future__ import annotations

from collections.abc import Callable

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


class StationRequests(OutstandingRequests):
    """Outstanding requests that the station updates for its policy.

    The station then calls neither :meth:`Policy.sent` nor :meth:`Policy.received`, and examines only frames
    that can change the set. Most frames are pure ACKs sent or full segments received, which cannot.

    Attributes
    ----------
    last_frame_s : float
        Time of the last frame sent or received, in seconds.
    last_request_s : float
        Time of the last SYN or payload sent, in seconds.
    """

    last_frame_s = last_request_s = 0.0

    def clear(self) -> None:
        """Reset to no outstanding request at time 0."""
        self._waiting.clear()
        self.last_frame_s = self.last_request_s = 0.0

    def is_quiet(self) -> bool:
        """Return whether no connection waits for a reply.

        A method takes half the time of the property :attr:`waiting`.
        """
        return not self._waiting

    def note_sent(self, now_s: float, flow: int, useful: bool, last: bool) -> None:
        """Handle a frame that is useful or the last one of its connection.

        Parameters
        ----------
        now_s : float
            Time of sending, in seconds.
        flow : int
            Number of the connection; -1 if the frame has none.
        useful : bool
            Whether the frame is a SYN or has a payload.
        last : bool
            Whether the frame closes its connection.
        """
        if useful:
            self.last_request_s = now_s
        if last:
            self._waiting.discard(flow)
        elif flow >= 0:
            self._waiting.add(flow)

    @property
    def note_reply_end(self) -> Callable[[int], None]:
        """Function that removes the connection with a given number when its reply is complete."""
        return self._waiting.discard


def is_useful(frame: Frame) -> bool:
    """Return whether *frame* has a payload or a SYN, unlike a pure ACK or FIN."""
    return frame.payload > 0 or frame.syn


def longest_doze(max_ms: float, beacon_s: float) -> int:
    """Return the longest doze of at most *max_ms* ms, in beacons, at least 1.

    The beacons are *beacon_s* seconds apart. A margin of 1e-9 beacons makes 1.2 s twelve beacons of 0.1 s.
    """
    return max(1, int(max_ms / 1000 / beacon_s + 1e-9))
