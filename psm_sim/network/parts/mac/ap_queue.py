"""Transmit queue of the access point, shared by all stations that it considers awake."""

from __future__ import annotations

from collections import deque

from simpy import Environment

from psm_sim.network.access_point import Port
from psm_sim.network.parts.association_timeout import Association
from psm_sim.network.parts.mac.air_link import AirLink
from psm_sim.network.parts.mac.block_ack import protect
from psm_sim.network.parts.mac.channel import Channel, Contender, Exchange, answered_exchange
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.network.topology_sections import AccessPointParameters


class ApQueue:
    """Transmit queue of the access point: one contender that sends frames in order of arrival.

    Attributes
    ----------
    contender : Contender
        The access point as a contender for the channel.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._order: deque[MacPort] = deque()
        self.contender = channel.join(self)
        self._start_s = self._cts_s = 0.0
        self._sent: BufferedFrame | None = None

    def push(self, port: MacPort) -> None:
        """Add a frame that is queued at *port*."""
        self._order.append(port)
        self._channel.request(self.contender)

    def forget(self, port: MacPort) -> None:
        """Remove all frames of *port*."""
        self._order = deque(other for other in self._order if other is not port)
        self._channel.withdraw(self.contender)

    def exchange(self, start_s: float) -> Exchange:
        """Return the exchange of the first frame."""
        self._start_s, port = start_s, self._order[0]
        link, own, other = port.downlink, self.contender, port.station
        self._sent = link.queue[0]
        if link.block_ack is not None:
            link.block_ack.sent = []
            together = link.block_ack.exchange(own, other, start_s, False, self._deliver_ampdu)
            if together is not None:
                self._cts_s = link.timing.ack_s if together.protected_s else 0.0
                return together
        first_s, answer_s = link.air_time_s(self._sent[1]), link.timing.answer_s
        deliver, without_ack = self._deliver, self._deliver_without_ack
        alone = answered_exchange(link, (own, other), first_s, answer_s, deliver, without_ack)
        exchange = protect(alone, own, other, link, link.timing.frame_bytes(self._sent[1].wire_bytes))
        self._cts_s = link.timing.ack_s if exchange.protected_s else 0.0
        return exchange

    def waiting(self) -> bool:
        """Return whether any frame is queued."""
        return bool(self._order)

    def collided(self, first_s: float) -> None:
        """Set the Retry bit of the frame that collided. No energy of the access point is counted."""
        if self._still_first():
            self._order[0].downlink.collided(first_s)

    def lost(self) -> None:
        """Drop the frames sent."""
        if self._still_first():
            port = self._order[0]
            entries = port.downlink.sent()
            if port.downlink.block_ack is not None:
                port.downlink.block_ack.reset()
            for entry in entries:
                self._order.remove(port)
                port.drop(entry)

    def _still_first(self) -> bool:
        """Return whether the frame of the last exchange is still the first in the queue.

        If its ACK was lost and the station then began to doze, the frame is no longer queued but buffered.
        """
        return bool(self._order) and self._order[0].downlink.queue[0] is self._sent

    def _deliver(self) -> None:
        port = self._order.popleft()
        link = port.downlink
        entry = link.queue.popleft()
        if link.sniffer is not None:
            link.sniffer.frame("data", entry, self._start_s, acknowledged=True)
        port.radio.transmitted(self._cts_s + link.timing.ack_s)
        self._pass_on(port, entry[1])

    def _pass_on(self, port: MacPort, segment: Segment) -> None:
        """Deliver a frame to the station, unless the station has received it before."""
        link = port.downlink
        if segment is link.unacknowledged:
            link.unacknowledged = None
            port.radio.end_without_delivery()
        else:
            link.notify_arrival(segment, self._start_s)
            link.deliver(segment)

    def _deliver_ampdu(self) -> None:
        """Deliver the frames that a block ack acknowledges, and drop those at the retry limit."""
        port = self._order[0]
        link, block_ack = port.downlink, port.downlink.block_ack
        port.radio.transmitted(self._cts_s + link.timing.block_ack_s)
        while block_ack is not None:
            entry = block_ack.received()
            if entry is not None:
                self._order.remove(port)
                self._pass_on(port, entry[1])
            elif block_ack.gives_up():
                self._order.remove(port)
                port.drop(link.queue[0])
            else:
                return

    def _deliver_without_ack(self) -> None:
        """Deliver the first frame, whose ACK is lost, and leave it in the queue for a repetition."""
        port = self._order[0]
        link = port.downlink
        entry = link.queue[0]
        if link.sniffer is not None:
            link.sniffer.frame("data", entry, self._start_s, acknowledged=False)
        if entry[1] is not link.unacknowledged:
            link.unacknowledged = entry[1]
            link.notify_arrival(entry[1], self._start_s)
            port.radio.expect_repetition()
            port.radio.transmitted(self._cts_s + link.timing.ack_s)
            link.deliver(entry[1])


class MacPort(Port):
    """Port of a station that takes part in the DCF.

    Parameters
    ----------
    env, parameters
        See :class:`~psm_sim.network.access_point.Port`.
    downlink, sender
        The link to the station, and the transmit queue of the access point. Both are attributes.
    association
        Association of the station, without which its frames are dropped.

    Attributes
    ----------
    awake : bool
        State of the station according to the last Power Management bit that the access point received.
    station : Contender
        The station as a contender for the channel.
    """

    downlink: AirLink

    def __init__(
        self,
        env: Environment,
        parameters: AccessPointParameters,
        downlink: AirLink,
        sender: ApQueue,
        association: Association,
    ) -> None:
        super().__init__(env, parameters, downlink)
        self._flying = downlink.queue
        self.sender, self._association = sender, association
        self.station: Contender
        self.awake = True
        downlink.request_channel = lambda: sender.push(self)

    @property
    def buffered(self) -> list[BufferedFrame]:
        """The buffered frames: the port's own list, not a copy."""
        return self._buffered

    @property
    def buffered_bytes(self) -> int:
        """Number of buffered bytes that the station has not received, including headers."""
        waiting = (segment for _, segment in self._buffered if segment is not self.downlink.unacknowledged)
        return sum(segment.wire_bytes for segment in waiting)

    def forward(self, segment: Segment) -> None:
        """Forward a frame to the station, or drop it if the association has lapsed."""
        if self._association.lapsed:
            self._drop(segment)
        else:
            super().forward(segment)

    def empty(self) -> int:
        """Drop all queued and buffered frames. Return the number of queued frames."""
        queued = self.rebuffer()
        buffered, self._buffered = self._buffered, []
        for _, segment in buffered:
            self._drop(segment)
        if buffered and self.on_buffered:
            self._notify(self._env.now)
        return queued

    def rebuffer(self) -> int:
        """Move the queued frames to the buffer of the dozing station. Return their number."""
        queued = list(self.downlink.queue)
        self._buffered = queued + self._buffered
        self.downlink.queue.clear()
        if self.downlink.block_ack is not None:
            self.downlink.block_ack.reset()
        self.sender.forget(self)
        if queued and self.on_buffered:
            self._notify(self._env.now)
        return len(queued)

    def first_buffered(self) -> Segment | None:
        """Return the first buffered frame, which answers a PS-Poll, or None if there is none."""
        return self._buffered[0][1] if self._buffered else None

    def take_first(self, start_s: float) -> bool:
        """Remove the first buffered frame, sent at *start_s* seconds. Return its More Data bit."""
        entry = self._buffered.pop(0)
        more = bool(self._buffered) and self._buffered[0][0] <= start_s
        if self.downlink.sniffer is not None:
            self.downlink.sniffer.frame("data", entry, start_s, acknowledged=True, more=more)
        if self.on_buffered:
            self._notify(self._env.now, 1)
        if entry[1] is self.downlink.unacknowledged:
            self.downlink.unacknowledged = None
        return more

    def keep_first(self, start_s: float) -> bool:
        """Leave the first frame in the buffer, because its ACK is lost. Return the frame's More Data bit."""
        entry = self._buffered[0]
        more = len(self._buffered) > 1 and self._buffered[1][0] <= start_s
        if self.downlink.sniffer is not None:
            self.downlink.sniffer.frame("data", entry, start_s, acknowledged=False, more=more)
        self.repeat_first()
        self.downlink.unacknowledged = entry[1]
        return more

    def repeat_first(self) -> None:
        """Set the Retry bit of the first buffered frame, whose transmission failed."""
        if self.downlink.sniffer is not None:
            self.downlink.sniffer.failed.add(self._buffered[0][1])

    def drop(self, entry: BufferedFrame) -> None:
        """Drop a queued frame."""
        self._drop(self.downlink.remove(entry))
        self.radio.end_without_delivery()

    def _drop(self, segment: Segment) -> None:
        """Count a dropped frame, unless the station has received it and only its ACK was lost."""
        if segment is self.downlink.unacknowledged:
            self.downlink.unacknowledged = None
        else:
            super()._drop(segment)
