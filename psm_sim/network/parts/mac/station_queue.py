"""Transmit queue of a station: data frames, PS-Polls and null data frames."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any

from psm_sim.network.parts.mac.air_link import AirLink
from psm_sim.network.parts.mac.ap_queue import MacPort
from psm_sim.network.parts.mac.block_ack import protect
from psm_sim.network.parts.mac.channel import Channel, Exchange, FrameError, answered_exchange, nothing
from psm_sim.network.segment import Segment
from psm_sim.network.sniffed_link import FrameKind


class ControlFrame(Enum):
    """Frame without data that a station sends."""

    PS_POLL = "PS-Poll, answered by the first buffered frame"
    NULL_AWAKE = "null data frame with PM = 0 (awake)"
    NULL_DOZE = "null data frame with PM = 1 (dozing)"


PS_POLL, NULL_AWAKE, NULL_DOZE = ControlFrame

QueueItem = Segment | ControlFrame


class StationQueue:
    """Transmit queue of a station, one contender for the channel. *owner* is the station's radio."""

    def __init__(
        self,
        channel: Channel,
        link: AirLink,
        port: MacPort,
        owner: Any,
    ) -> None:
        self._channel, self._link, self._port = channel, link, port
        self._owner = owner
        self.contender = port.station = channel.join(self)
        self._start_s = self._sent_s = 0.0
        self._transmitting = False
        link.request_channel = lambda: channel.request(self.contender)

    def push(self, item: ControlFrame, immediate: bool = True) -> None:
        """Queue a control frame; a PS-Poll overtakes the other frames, as in ns-3.

        See :meth:`Channel.request` for *immediate*.
        """
        self._link.enqueue(item, first=item is PS_POLL)
        self._channel.request(self.contender, immediate)

    def cancel(self, item: ControlFrame) -> bool:
        """Remove a queued control frame. Return False if there is none or it is being sent."""
        queue = self._link.queue
        entry = next((waiting for waiting in queue if waiting[1] is item), None)
        if entry is None or (self._transmitting and entry is queue[0]):
            return False
        self._link.remove(entry)
        self._channel.withdraw(self.contender)
        return True

    def waiting(self) -> bool:
        """Return whether any frame is queued."""
        return bool(self._link.queue)

    def exchange(self, start_s: float) -> Exchange:
        """Return the exchange of the first frame, which is sent at *start_s* seconds."""
        self._start_s, self._transmitting = start_s, True
        item, timing = self._link.queue[0][1], self._link.timing
        if self._link.block_ack is not None:
            self._link.block_ack.sent = []
        if item is PS_POLL:
            return self._poll_exchange()
        if isinstance(item, ControlFrame):
            return self._two_frames(timing.null_s, self._finish_frame, self._finish_unacknowledged_frame)
        exchange = self._data_exchange(item, start_s)
        self._sent_s = exchange.sent_s
        return exchange

    def _data_exchange(self, item: Segment, start_s: float) -> Exchange:
        """Return the exchange of an A-MPDU, of a block ack request, or of the first frame alone."""
        own, other, link = self.contender, self._port.sender.contender, self._link
        if link.block_ack is not None:
            together = link.block_ack.exchange(own, other, start_s, self._data_sleeps, self._finish_ampdu)
            if together is not None:
                return together
        first_s = link.air_time_s(item)
        alone = self._two_frames(first_s, self._finish_frame, self._finish_unacknowledged_frame)
        return protect(alone, own, other, link, link.timing.frame_bytes(item.wire_bytes))

    def _two_frames(
        self, first_s: float, acknowledged: Callable[[], None], unacknowledged: Callable[[], None]
    ) -> Exchange:
        """Return the exchange of a frame and its ACK."""
        ends, answer_s = (self.contender, self._port.sender.contender), self._link.timing.answer_s
        return answered_exchange(self._link, ends, first_s, answer_s, acknowledged, unacknowledged)

    def collided(self, first_s: float) -> None:
        """Count the time of a failed transmission. The frames stay in the queue."""
        self._transmitting = False
        self._link.collided(first_s)
        self._owner.transmitted(first_s)

    def lost(self) -> None:
        """Drop the frames sent."""
        entries = self._link.sent()
        if self._link.block_ack is not None:
            self._link.block_ack.reset()
        for entry in entries:
            self._drop(entry)

    def _drop(self, entry: tuple[float, Any]) -> None:
        item = self._link.remove(entry)
        if item is self._link.unacknowledged:
            self._link.unacknowledged = None
        elif isinstance(item, Segment):
            self._link.lost_bytes += item.wire_bytes
        self._owner.lost(item)

    def _poll_exchange(self) -> Exchange:
        timing, answer = self._link.timing, self._port.first_buffered()
        if answer is None or self._port.awake:
            # If nothing is buffered for the station, the access point answers with an ACK.
            return self._two_frames(timing.poll_s, self._finish_empty_poll, nothing)
        own, other, answer_s = self.contender, self._port.sender.contender, timing.answer_s
        delivery_s = timing.poll_s + timing.sifs_s + self._port.downlink.air_time_s(answer)
        lost = self._link.first_error(3)
        if lost == 1:
            nav_s = delivery_s - timing.poll_s + answer_s
            error = FrameError(own, other, nav_s, retries=True)
            return Exchange(timing.poll_s, timing.poll_s, 0.0, nothing, error)
        if lost == 2:
            error = FrameError(other, own, answer_s, retries=True)
            return Exchange(timing.poll_s, delivery_s, 0.0, self._port.repeat_first, error)
        if lost == 3:
            error = FrameError(own, other, 0.0, retries=False)
            unacknowledged = partial(self._receive_answer, self._port.keep_first)
            return Exchange(timing.poll_s, delivery_s, answer_s, unacknowledged, error)
        acknowledged = partial(self._receive_answer, self._port.take_first)
        return Exchange(timing.poll_s, delivery_s, answer_s, acknowledged)

    def _finish_empty_poll(self) -> None:
        self._transmitting = False
        entry = self._link.queue.popleft()
        if self._link.sniffer is not None:
            self._link.sniffer.frame("ps-poll", entry, self._start_s, acknowledged=True, sleeps=True)
        self._owner.transmitted(self._link.timing.poll_s)
        self._owner.polled(None, False)

    def _receive_answer(self, take: Callable[[float], bool]) -> None:
        """Receive the answer to a PS-Poll. *take* is ``take_first`` or ``keep_first`` of the port."""
        self._transmitting = False
        entry = self._link.queue.popleft()
        if self._link.sniffer is not None:
            self._link.sniffer.frame("ps-poll", entry, self._start_s, acknowledged=False, sleeps=True)
        timing, answer = self._link.timing, self._port.first_buffered()
        answer_start_s = self._start_s + timing.poll_s + timing.sifs_s
        repeated = answer is self._port.downlink.unacknowledged
        more = take(answer_start_s)
        self._owner.transmitted(timing.poll_s + timing.ack_s)
        if answer is None or repeated:
            self._owner.polled(None, more)
        else:
            self._port.downlink.notify_arrival(answer, answer_start_s)
            self._owner.polled(answer, more)

    def _finish_frame(self) -> None:
        self._transmitting = False
        entry = self._link.queue.popleft()
        self._report(entry, acknowledged=True)
        item = entry[1]
        repeated = item is self._link.unacknowledged
        self._link.unacknowledged = None
        if isinstance(item, Segment):
            self._owner.transmitted(self._sent_s)
            if not repeated:
                self._link.notify_arrival(item, self._start_s)
        else:
            self._owner.transmitted(self._link.timing.null_s)
        self._owner.sent(item, repeated=repeated)

    def _finish_ampdu(self) -> None:
        """Pass on the frames that a block ack acknowledges, and drop those at the retry limit."""
        self._transmitting, block_ack = False, self._link.block_ack
        self._owner.transmitted(self._sent_s)
        while block_ack is not None:
            entry = block_ack.received()
            if entry is not None:
                repeated = entry[1] is self._link.unacknowledged
                self._link.unacknowledged = None
                if not repeated:
                    self._link.notify_arrival(entry[1], self._start_s)
                self._owner.sent(entry[1], repeated=repeated)
            elif block_ack.gives_up():
                self._drop(self._link.queue[0])
            else:
                return

    def _finish_unacknowledged_frame(self) -> None:
        """Let the access point receive the first frame, whose ACK is lost. The frame stays in the queue."""
        entry = self._link.queue[0]
        self._report(entry, acknowledged=False)
        item = entry[1]
        repeated = item is self._link.unacknowledged
        if isinstance(item, Segment) and not repeated:
            self._link.unacknowledged = item
            self._link.notify_arrival(item, self._start_s)
        self._owner.sent(item, repeated=repeated, acknowledged=False)

    def _report(self, entry: tuple[float, QueueItem], *, acknowledged: bool) -> None:
        """Report a frame to the sniffer, before its PM bit is processed."""
        if self._link.sniffer is None:
            return
        is_data = isinstance(entry[1], Segment)
        sleeps = self._data_sleeps if is_data else entry[1] is NULL_DOZE
        kind: FrameKind = "data" if is_data else "null"
        self._link.sniffer.frame(kind, entry, self._start_s, acknowledged=acknowledged, sleeps=sleeps)

    @property
    def _data_sleeps(self) -> bool:
        """PM bit of a data frame."""
        return not (self._port.awake or self._port.release_on_uplink)
