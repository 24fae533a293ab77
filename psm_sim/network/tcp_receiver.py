"""TCP receiver, which reassembles the peer's stream and decides when an ACK is due."""

from __future__ import annotations

from enum import Enum


class AckDue(Enum):
    """Urgency of the next acknowledgement."""

    NO = 0
    LATER = 1
    NOW = 2


# Module globals, for the reason that psm_sim/network/radio.py gives.
NO, LATER, NOW = AckDue


class Receiver:
    """Receiving half of a connection. SYN and FIN take one sequence number each.

    An ACK is due at once after *at_once* unacknowledged segments (1 or 2). It is also due at once if a
    segment is out of order or fills a gap (RFC 5681, section 4.2).

    Attributes
    ----------
    next : int
        Next expected sequence number.
    unacknowledged : int
        Number of segments since the last ACK. The endpoint resets it when it sends an ACK.
    due : AckDue
        Urgency of the next ACK.
    """

    __slots__ = ("_at_once", "_islands", "due", "next", "unacknowledged")

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._islands: list[tuple[int, int]] = []
        self.unacknowledged = 0
        self.next = 0
        self.due = NO

    def accept(self, start: int, end: int, urgent: bool) -> None:
        """Accept the sequence numbers from *start* up to *end*; *urgent* is true for SYN and FIN."""
        if start <= self.next < end:
            self.next = end
            self.unacknowledged = count = self.unacknowledged + 1
            self.due = NOW if urgent or count >= self._at_once else LATER
            if self._islands:
                self.due = NOW
                self._join()
        else:
            if start > self.next:
                self._store_island(start, end)
            self.due = NOW

    def _store_island(self, start: int, end: int) -> None:
        """Store an out-of-order range, merged with the stored ranges that it touches."""
        separate = []
        for island_start, island_end in self._islands:
            if island_end < start or island_start > end:
                separate.append((island_start, island_end))
            else:
                start, end = min(start, island_start), max(end, island_end)
        self._islands = sorted([*separate, (start, end)])

    def _join(self) -> None:
        while self._islands and self._islands[0][0] <= self.next:
            self.next = max(self.next, self._islands.pop(0)[1])
