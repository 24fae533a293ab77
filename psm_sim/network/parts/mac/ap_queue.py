"""Transmit queue of the access point, shared by all stations that it considers awake."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from simpy import Environment

from psm_sim.network.access_point import Port
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.parts.mac.air_link import AirLink
from psm_sim.network.parts.mac.channel import Channel, Exchange
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.network.topology_sections import AccessPointParameters


class ApQueue:
    """Transmit queue of the access point: one contender that sends frames in order of arrival."""

    def __init__(self, channel: Channel, timing: FrameTiming) -> None:
        self._channel, self._timing = channel, timing
        self._order: deque[MacPort] = deque()
        self._contender = channel.join(self)
        self._start_s = 0.0

    def push(self, port: MacPort) -> None:
        """Add a frame that is queued at *port*."""
        self._order.append(port)
        self._channel.request(self._contender)

    def forget(self, port: MacPort) -> None:
        """Remove all frames of *port*."""
        self._order = deque(other for other in self._order if other is not port)
        self._channel.withdraw(self._contender)

    def exchange(self, start_s: float) -> Exchange:
        """Return the exchange of the first frame."""
        self._start_s, link = start_s, self._order[0].link
        first_s = link.air_time_s(link.queue[0][1])
        return Exchange(first_s, first_s, self._timing.answer_s, self._deliver)

    def waiting(self) -> bool:
        """Return whether any frame is queued."""
        return bool(self._order)

    def collided(self, first_s: float) -> None:
        """Record the collision for the Retry bit. The energy of the access point is not modelled."""
        self._order[0].link.collided()

    def lost(self) -> None:
        """Drop the first frame."""
        self._order.popleft().drop_first()

    def _deliver(self) -> None:
        link = self._order.popleft().link
        entry = link.queue.popleft()
        if link.sniffer is not None:
            link.sniffer.exchange("data", entry, self._start_s)
        segment = entry[1]
        link.notify_arrival(segment, self._start_s)
        link.deliver(segment)


class MacPort(Port):
    """Port of a station that takes part in the DCF.

    Parameters
    ----------
    env, parameters
        As for :class:`~psm_sim.network.access_point.Port`.
    link, sender
        The downlink to the station, and the transmit queue of the access point.

    Attributes
    ----------
    awake : bool
        State of the station according to the last Power Management bit that the access point received.
    on_dropped : callable
        Called when a frame exceeds the retry limit. It must be set before the first frame arrives.
    """

    def __init__(
        self,
        env: Environment,
        parameters: AccessPointParameters,
        link: AirLink,
        sender: ApQueue,
    ) -> None:
        super().__init__(env, parameters, link)
        self.link, self._sender, self._flying = link, sender, link.queue
        self.on_dropped: Callable[[], None]
        self.awake = True
        link.request_channel = lambda: sender.push(self)

    @property
    def buffered(self) -> list[BufferedFrame]:
        """The buffered frames. The list may change after the next event."""
        return self._buffered

    def rebuffer(self) -> int:
        """Buffer the queued frames of a station that has begun to doze. Return the number of these frames."""
        queued = list(self.link.queue)
        self._buffered = queued + self._buffered
        self.link.queue.clear()
        self._sender.forget(self)
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
        if self.link.sniffer is not None:
            self.link.sniffer.exchange("data", entry, start_s, more=more)
        if self.on_buffered:
            self._notify(self._env.now, 1)
        return more

    def drop_first(self) -> None:
        """Drop the first queued frame."""
        segment = self.link.remove(self.link.queue[0])
        self.dropped_frames += 1
        self.dropped_bytes += segment.wire_bytes
        self.on_dropped()
