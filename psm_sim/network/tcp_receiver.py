"""TCP receiver: reassembly of the peer's stream, and when an ACK is due."""

from __future__ import annotations

from enum import Enum


class AckDue(Enum):
    """Urgency of the acknowledgement of what has been received."""

    NO = 0
    LATER = 1
    NOW = 2


# As globals, since a member looked up in its class takes several times as long.
NO, LATER, NOW = AckDue


class Receiver:
    """Puts the peer's stream together; sequence numbers count SYN and FIN as one byte each.

    ``next`` is the next sequence number expected, ``unacknowledged`` counts segments since the last
    acknowledgement: whoever sends one sets it to 0. ``due`` says how soon to acknowledge: at once when so
    many as *at_once* are not, one or two, and at once too whatever is out of order or fills a gap
    (RFC 5681, section 4.2).
    """

    __slots__ = ("_at_once", "_islands", "due", "next", "unacknowledged")

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._islands: list[tuple[int, int]] = []
        self.unacknowledged = 0
        self.next = 0
        self.due = NO

    def accept(self, start: int, end: int, urgent: bool) -> None:
        """Take the sequence numbers from *start* up to *end*; *urgent* for SYN and FIN."""
        if start <= self.next < end:
            self.next = end
            self.unacknowledged = count = self.unacknowledged + 1
            self.due = NOW if urgent or count >= self._at_once else LATER
            if self._islands:
                self.due = NOW
                self._join()
        else:
            if start > self.next:
                self._keep(start, end)
            self.due = NOW

    def _keep(self, start: int, end: int) -> None:
        kept = []
        for island_start, island_end in self._islands:
            if island_end < start or island_start > end:
                kept.append((island_start, island_end))
            else:
                start, end = min(start, island_start), max(end, island_end)
        self._islands = sorted([*kept, (start, end)])

    def _join(self) -> None:
        while self._islands and self._islands[0][0] <= self.next:
            self.next = max(self.next, self._islands.pop(0)[1])
