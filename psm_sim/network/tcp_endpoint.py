"""TCP endpoint with handshake, data in both directions, reassembly, delayed ACKs, and close."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from math import inf
from typing import Any, Protocol

from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.network.tcp_sender import Sender, TcpConstants
from psm_sim.network.timers import Timer, TimerQueue


class AckDue(Enum):
    """When the next ACK is due: not at all, after a delay, or now."""

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
        Number of segments received since the last ACK.
    due : AckDue
        When the next ACK is due.
    """

    __slots__ = ("_at_once", "_islands", "due", "next", "unacknowledged")

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._islands: list[tuple[int, int]] = []
        self.unacknowledged = 0
        self.next = 0
        self.due = NO

    def accept(self, start: int, end: int, urgent: bool) -> None:
        """Accept the sequence numbers *start* to *end* - 1. *urgent* is true for a SYN or FIN."""
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


class Application(Protocol):
    """Application that uses an endpoint, and is called by it."""

    def established(self) -> None:
        """Handle the end of the handshake."""

    def received(self, payload_bytes: int) -> None:
        """Handle *payload_bytes* further bytes of the peer's stream, in order."""

    def peer_closed(self) -> None:
        """Handle the peer's FIN, after which it sends no more data."""


class Endpoint(Sender):
    """One end of a TCP connection.

    The client calls :meth:`open`. The server creates its endpoint when a SYN arrives.

    Parameters
    ----------
    timers, constants, connection
        Timers of the host, TCP constants, and identity of the connection.
    host : Host
        Host of this end, which transmits each segment and counts its bytes.
    give_up
        Called with the endpoint if no ACK of new data arrives for too long.
    """

    __slots__ = (
        "_ack",
        "_host",
        "_is_open",
        "_on_give_up",
        "_peer_fin",
        "application",
        "connection",
        "peer_has_closed",
        "receiver",
    )  # fmt: skip

    def __init__(
        self,
        timers: TimerQueue,
        constants: TcpConstants,
        connection: ConnectionId,
        host: Any,
        give_up: Callable[[Endpoint], None],
    ) -> None:
        Sender.__init__(self, timers, constants)
        self._host, self._on_give_up = host, give_up
        self._ack = Timer(timers, self._send_ack)
        self._peer_fin = -1
        self.peer_has_closed = self._is_open = False
        self.connection = connection
        self.receiver = Receiver(constants.at_once)
        self.application: Application

    def open(self) -> None:
        """Send the SYN."""
        self.send()

    def close(self) -> None:
        """Send a FIN after all written data. The endpoint can still receive."""
        if not self.closing:
            self.write(0, last=True)

    def is_closed(self) -> bool:
        """Return whether both FINs have been received and acknowledged."""
        return self.peer_has_closed and self.closing and self.acknowledged == self.written + 1

    def receive(self, segment: Segment) -> None:
        """Process one segment from the peer."""
        if segment.syn or not self._is_open:
            self._open(segment)
            return
        ack, payload, fin = segment.ack, segment.payload, segment.fin
        if payload or fin:
            receiver, seq = self.receiver, segment.seq
            before = receiver.next
            end = seq + payload + 1 if fin else seq + payload
            receiver.accept(seq, end, fin)
            if fin:
                self._peer_fin = end
            if ack > self.acknowledged:
                self.acknowledge(ack)
            self._take(before)
        elif ack > self.acknowledged:
            self.acknowledge(ack)
        elif ack == self.acknowledged < self.next:
            self._duplicate()

    def _open(self, segment: Segment) -> None:
        """Process a SYN, or any segment before the connection is open."""
        receiver, seq, ack = self.receiver, segment.seq, segment.ack
        before, end = receiver.next, segment.end()
        if before == 0 and not segment.syn:
            return
        if end > seq:
            receiver.accept(seq, end, segment.syn or segment.fin)
            if segment.fin:
                self._peer_fin = end
        if self.next == 0:
            self.send()
            return
        if segment.syn and ack == self.acknowledged == 0:
            # The SYN-ACK was lost. A bare ACK would not open the connection (RFC 9293, section 3.10.7.4).
            self.repeat_syn()
            return
        if ack > self.acknowledged:
            self.acknowledge(ack)
            if not self._is_open:
                self._is_open = True
                self._established()
        elif end == seq and ack == self.acknowledged < self.next:
            self._duplicate()
        if end > seq and (before == 0 or self._constants.stack.answers_repeated_syn_ack or not segment.syn):
            self._take(before or 1)

    def stop(self) -> None:
        """Cancel all timers."""
        self._timer.deadline = self._ack.deadline = inf

    def _established(self) -> None:
        if self.receiver.due is NOW:
            self._send_ack()
        self.application.established()

    def _take(self, before: int) -> None:
        """Deliver the new data from sequence number *before* on, and send or delay the ACK that is due."""
        receiver = self.receiver
        reached = receiver.next
        if reached == self._peer_fin:
            if reached - 1 > before:
                self.application.received(reached - 1 - before)
            if not self.peer_has_closed:
                self._end(reached - 1 > before)
        elif reached > before:
            self.application.received(reached - before)
        if receiver.due is NOW:
            self._emit(self.next, 0, False, False)
        elif receiver.due is LATER and self._ack.deadline == inf:
            self._delay_ack()

    def _delay_ack(self) -> None:
        now_s, ticks = self._env.now, self._constants.ticks
        self._ack.at(now_s + self._constants.delay_s if ticks is None else ticks.time(ticks.after(now_s)))

    def _end(self, had_data: bool) -> None:
        self.peer_has_closed = True
        self.application.peer_closed()

    def _send_ack(self) -> None:
        self._emit(self.next, 0, False, False)

    def _give_up(self) -> None:
        self._on_give_up(self)

    def _emit(self, seq: int, payload: int, syn: bool, fin: bool) -> None:
        self._ack.deadline = inf
        receiver, host, size = self.receiver, self._host, payload + self._constants.header
        segment = Segment(self.connection, seq, payload, receiver.next, syn, fin, size)
        receiver.unacknowledged, receiver.due = 0, NO
        host.sent_bytes += size
        host.transmit(segment)


class AckFirst(Endpoint):
    """Endpoint of a stack that acknowledges a segment before it sends the reply.

    An endpoint that has sent no data acknowledges the first segment of the connection at once. If an endpoint
    answers a FIN with its own FIN, it sends a bare ACK after its FIN. If the peer's FIN had data, it also
    sends a bare ACK before its FIN. A FIN without data is sent while the application still reads a segment.
    The FIN acknowledges this segment, which still counts for the next ACK.
    """

    __slots__ = ("_is_reading",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._is_reading = False  # whether the application is reading a segment, so its data have to wait

    def write(self, payload_bytes: int, last: bool = False) -> None:
        """Append data, and a FIN if *last* is true. While the application reads a segment, data wait."""
        waits = self._is_reading and self.next < self.written + payload_bytes
        if not waits:
            super().write(payload_bytes, last)
        else:
            self.written += payload_bytes
            self.closing, self.end = last, self.written + last

    def _take(self, before: int) -> None:
        receiver = self.receiver
        reached = receiver.next
        if reached == self._peer_fin:
            super()._take(before)
            return
        is_first = self.next == before == 1 < reached
        self._is_reading = True
        if reached > before:
            self.application.received(reached - before)
        self._is_reading = False
        if receiver.unacknowledged == 0 and reached > before:  # a FIN has acknowledged the segment
            receiver.unacknowledged = 1
            receiver.due = NOW if self._constants.at_once == 1 else LATER
        if receiver.due is NOW or is_first:
            self._send_ack()
        elif receiver.due is LATER and self._ack.deadline == inf:
            self._delay_ack()
        if self.next < self.end:
            self.send()

    def _end(self, had_data: bool) -> None:
        was_open = not self.closing
        if had_data or not was_open:
            self._send_ack()
        super()._end(had_data)
        if was_open:
            self._send_ack()
