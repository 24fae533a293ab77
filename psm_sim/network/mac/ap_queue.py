"""Sender of an access point: one queue for all stations that it takes to be awake."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from simpy import Environment

from psm_sim.network.access_point import Port
from psm_sim.network.frame_timing import FrameTiming
from psm_sim.network.mac.air_link import AirLink
from psm_sim.network.mac.channel import Channel
from psm_sim.network.mac.channel_access import Exchange
from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.network.topology_sections import AccessPointParameters


class ApQueue:
    """Sender: one contender, which sends in the order in which frames came, whoever they are for."""

    def __init__(self, air: Channel, timing: FrameTiming) -> None:
        self._air, self._timing = air, timing
        self._order: deque[MacPort] = deque()
        self._contender = air.join(self)
        self._start_s = 0.0

    def push(self, port: MacPort) -> None:
        """Take note that one more frame waits at a port."""
        self._order.append(port)
        self._air.ask(self._contender)

    def forget(self, port: MacPort) -> None:
        """Send nothing further for a port."""
        self._order = deque(each for each in self._order if each is not port)
        self._air.withdraw(self._contender)

    def exchange(self, start_s: float) -> Exchange:
        """Return the exchange of the first frame."""
        self._start_s, link = start_s, self._order[0].link
        first_s = link.air_time_s(link.waits[0][1])
        return Exchange(first_s, first_s, self._timing.answer_s, self._done)

    def waiting(self) -> bool:
        """Say whether frames wait."""
        return bool(self._order)

    def collided(self, first_s: float) -> None:
        """Take note for the frame's next copy: what the access point spends counts for nobody."""
        self._order[0].link.collided()

    def lost(self) -> None:
        """Drop the first frame."""
        self._order.popleft().lose()

    def _done(self) -> None:
        link = self._order.popleft().link
        entry = link.waits.popleft()
        if link.teller is not None:
            link.teller.exchange("data", entry, self._start_s)
        segment = entry[1]
        link.arrived(segment, self._start_s)
        link.deliver(segment)


class MacPort(Port):
    """Port of a station on the air; ``awake`` is what the station's power-management bit has last said.

    ``missed`` is called when a frame was sent too often without an ACK, so that it is dropped; it must be set
    before the first frame comes.

    Parameters
    ----------
    env, parameters
        As for :class:`~psm_sim.network.access_point.Port`.
    link, sender
        The way down to the station, and who sends on it.
    """

    def __init__(
        self,
        env: Environment,
        parameters: AccessPointParameters,
        link: AirLink,
        sender: ApQueue,
    ) -> None:
        super().__init__(env, parameters, link)
        self.link, self._sender, self._flying = link, sender, link.waits
        self.missed: Callable[[], None]
        self.awake = True
        link.ask = lambda: sender.push(self)

    @property
    def buffered(self) -> list[BufferedFrame]:
        """Frames held, which may change after the next event."""
        return self._buffered

    def retain(self) -> int:
        """Hold again what waits for a station that has said it dozes; return how many frames these are."""
        kept = list(self.link.waits)
        self._buffered = kept + self._buffered
        self.link.waits.clear()
        self._sender.forget(self)
        if kept and self.on_buffered:
            self._notify(self._env.now)
        return len(kept)

    def first(self) -> Segment | None:
        """Return the first frame held, if there is one: the answer to a PS-Poll."""
        return self._buffered[0][1] if self._buffered else None

    def take(self, start_s: float) -> bool:
        """Remove that frame, sent at *start_s* seconds; return what its More Data bit said then."""
        entry = self._buffered.pop(0)
        more = bool(self._buffered) and self._buffered[0][0] <= start_s
        if self.link.teller is not None:
            self.link.teller.exchange("data", entry, start_s, more=more)
        if self.on_buffered:
            self._notify(self._env.now, 1)
        return more

    def lose(self) -> None:
        """Drop the first frame that waits."""
        segment = self.link.take_back(self.link.waits[0])
        self.dropped_frames += 1
        self.dropped_bytes += segment.wire_bytes
        self.missed()
