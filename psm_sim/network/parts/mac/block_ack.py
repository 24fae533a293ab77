"""A-MPDUs of 802.11n with block acks, and RTS protection of large frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

from psm_sim.beacons import TOLERANCE_S
from psm_sim.network.parts.frame_timing import RETRY_LIMIT, FrameTiming
from psm_sim.network.parts.mac.channel import Contender, Exchange, FrameError, answered_exchange, nothing
from psm_sim.network.segment import Segment

QueuedFrame = tuple[float, Any]
"""Queueing time of a frame in seconds, and the frame."""


class BlockAckAgreement:
    """Block ack agreement of one direction (802.11-2020, 10.25), which is in force from the start of the run.

    The window begins with the first frame of the queue, which is the oldest frame not yet received. Frames
    received after a missing one stay in the queue, as in the reorder buffer of the receiver, and are not sent
    again. If a block ack does not arrive, the sender sends a block ack request. If ``mac.block_ack_request``
    is false, it repeats the whole A-MPDU instead. The receiver delivers frames when the sender has received
    their block ack.

    Attributes
    ----------
    sent : list of QueuedFrame
        Frames of the A-MPDU being sent; empty while another frame is sent.
    """

    def __init__(self, link: Any) -> None:
        self._link, self._timing, self._queue = link, link.timing, link.queue
        self._received: set[Segment] = set()
        self._attempts: dict[Segment, int] = {}
        self._requests = False
        self._air_s = 0.0
        self.sent: list[QueuedFrame] = []

    def exchange(
        self, own: Contender, other: Contender, start_s: float, sleeps: bool, then: Callable[[], None]
    ) -> Exchange | None:
        """Return the exchange of the next A-MPDU or of a block ack request; None for a frame sent alone.

        Parameters
        ----------
        own, other
            Sender and receiver.
        start_s, sleeps
            Start of the exchange in seconds, and Power Management bit of its frames.
        then
            Called when the sender receives the block ack.
        """
        timing, errors = self._timing, self._link.errors
        if self._requests:
            return self._request(own, other, then)
        mpdus, size = self._next()
        if len(mpdus) < 2 and not self._received:
            return None
        self.sent = mpdus
        self._air_s, answer_s = timing.ampdu_s(size), timing.sifs_s + timing.block_ack_s
        arrived = [item for _, item in mpdus if errors is None or not errors.lost()]
        begins_s = start_s if size <= timing.rts_bytes else start_s + timing.protection_s

        def receive() -> None:
            if self._link.sniffer is not None:
                self._link.sniffer.ampdu(mpdus, arrived, begins_s, sleeps)
            self._received.update(arrived)

        def acknowledge() -> None:
            receive()
            self._acknowledge(then)

        exchange = Exchange(self._air_s, self._air_s, answer_s, acknowledge)
        if not arrived:
            error = FrameError(own, other, answer_s, retries=True)
            exchange = Exchange(self._air_s, self._air_s, 0.0, nothing, error)
        elif errors is not None and errors.lost():
            error = FrameError(other, own, 0.0, retries=True)
            missed = receive if timing.block_ack_request else nothing
            exchange = Exchange(self._air_s, self._air_s, answer_s, missed, error)
        return protect(exchange, own, other, self._link, size)

    def fail(self, sent_s: float) -> None:
        """Plan a block ack request if a failed transmission of *sent_s* seconds included an A-MPDU."""
        if self.sent and sent_s > self._air_s - TOLERANCE_S:
            self._requests = self._timing.block_ack_request

    def received(self) -> QueuedFrame | None:
        """Remove and return the first frame of the queue if it was received; else return None."""
        if not self._queue or self._queue[0][1] not in self._received:
            return None
        entry: QueuedFrame = self._queue.popleft()
        self._received.remove(entry[1])
        self._attempts.pop(entry[1], None)
        return entry

    def gives_up(self) -> bool:
        """Return whether the first frame exceeds the retry limit."""
        return bool(self._queue) and self._attempts.get(self._queue[0][1], 0) > RETRY_LIMIT

    def reset(self) -> None:
        """Forget received frames and attempts. Call this when frames are rebuffered or dropped."""
        self._received.clear()
        self._attempts.clear()
        self._requests = False

    def _next(self) -> tuple[list[QueuedFrame], int]:
        """Return the frames of the next A-MPDU, and its size in bytes."""
        timing, mpdus, size = self._timing, list[QueuedFrame](), 0
        for entry in islice(self._queue, timing.block_ack_window):
            if not isinstance(entry[1], Segment):
                break
            if entry[1] not in self._received:
                longer = timing.ampdu_bytes(size, entry[1].wire_bytes)
                if mpdus and longer > timing.ampdu_limit:
                    break
                mpdus.append(entry)
                size = longer
        return mpdus, size

    def _request(self, own: Contender, other: Contender, then: Callable[[], None]) -> Exchange:
        request_s, answer_s = self._timing.request_s, self._timing.sifs_s + self._timing.block_ack_s
        acknowledge = partial(self._acknowledge, then)
        return answered_exchange(self._link, (own, other), request_s, answer_s, acknowledge)

    def _acknowledge(self, then: Callable[[], None]) -> None:
        self._requests = False
        for _, item in self.sent:
            if item not in self._received:
                self._attempts[item] = self._attempts.get(item, 0) + 1
        then()


def protect(exchange: Exchange, own: Contender, other: Contender, link: Any, size: int) -> Exchange:
    """Return *exchange*, with RTS and CTS before its first frame if *size* is above ``mac.rts_bytes``."""
    timing: FrameTiming = link.timing
    if size <= timing.rts_bytes:
        return exchange
    rts = answered_exchange(link, (own, other), timing.rts_s, timing.answer_s, nothing)
    if rts.error is not None:
        return rts
    return exchange._replace(
        first_s=timing.rts_s,
        protected_s=exchange.first_s,
        delivery_s=timing.protection_s + exchange.delivery_s,
    )
