"""Link: one direction of a hop, with a bit rate, a delay, and frames in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

from simpy import Environment, Event

from psm_sim.network.segment import BufferedFrame, Segment
from psm_sim.network.timers import ReusableEvent
from psm_sim.network.topology_sections import LinkParameters

LinkName = Literal["wireless up", "wired up", "wired down", "wireless down"]
"""The four links between station and server; up is towards the server."""


class Link:
    """Link: sends segments one after the other and delivers each after the propagation delay.

    ``deliver`` takes each segment as it arrives, and must be set before the first one is sent. ``free_at``
    is the time in seconds at which the transmitter has sent all it was given, ``flying`` what is queued, in
    transmission or on the way, each after its time of arrival. ``arrival`` fires at the first of these;
    ``s_per_byte`` and ``latency_s`` are the time to send a byte, and that of the way.

    Parameters
    ----------
    env, name
        The clock, and which of the four links this is.
    parameters
        Bit rate and delay.
    on_frame
        Called as :class:`~psm_sim.network.observers.Observer` says of ``frame``.
    """

    def __init__(
        self,
        env: Environment,
        name: LinkName,
        parameters: LinkParameters,
        on_frame: Sequence[Callable[[Link, float, float, Segment], None]] = (),
    ) -> None:
        self._env, self.name, self._on_frame = env, name, on_frame
        self.s_per_byte = 8e-6 / parameters.rate_mbps
        self.latency_s = parameters.latency_ms / 1000
        self.deliver: Callable[[Segment], None]
        self.flying: deque[tuple[float, Segment]] = deque()
        self.arrival = ReusableEvent(env, self._arrive)
        self.free_at = 0.0

    def send(self, segment: Segment, queued_s: float | None = None) -> None:
        """Queue one segment behind those not yet sent; it comes at *queued_s* seconds, later, or now."""
        if queued_s is None:
            queued_s = self._env.now
        free_at = self.free_at
        start = free_at if free_at > queued_s else queued_s
        self.free_at = sent = start + segment.wire_bytes * self.s_per_byte
        arrives_s, flying = sent + self.latency_s, self.flying
        if not flying:
            self.arrival.arm(arrives_s)
        flying.append((arrives_s, segment))
        if self._on_frame:
            self._tell(segment, queued_s, arrives_s)

    def send_all(self, buffered: Sequence[BufferedFrame]) -> None:
        """Queue segments that were held, one after the other, as :meth:`send` would do with each."""
        queued_s, flying, was_empty = self._env.now, self.flying, not self.flying
        sent = self.free_at if self.free_at > queued_s else queued_s
        for _, segment in buffered:
            self.free_at = sent = sent + segment.wire_bytes * self.s_per_byte
            flying.append((sent + self.latency_s, segment))
            if self._on_frame:
                self._tell(segment, queued_s, sent + self.latency_s)
        if was_empty:
            self.arrival.arm(flying[0][0])

    def _tell(self, segment: Segment, queued_s: float, arrives_s: float) -> None:
        for notify in self._on_frame:
            notify(self, queued_s, arrives_s, segment)

    def hold_until(self, time_s: float) -> None:
        """Send nothing further before a time, in seconds."""
        self.free_at = max(self.free_at, time_s)

    def air_time_s(self, segment: Segment) -> float:
        """Return how long it takes to send a segment, in seconds."""
        return segment.wire_bytes * self.s_per_byte

    @property
    def transmitter(self) -> Link:
        """The link whose ``free_at`` says when a sender of this one has sent all."""
        return self

    @property
    def in_flight(self) -> int:
        """The number of segments queued, in transmission, or on the way."""
        return len(self.flying)

    @property
    def in_flight_bytes(self) -> int:
        """Their bytes, headers included."""
        return sum(segment.wire_bytes for _, segment in self.flying)

    def _arrive(self, _: Event) -> None:
        """Deliver the first segment, and those after it as long as nothing else happens between.

        The next one is numbered before a delivery, as if it was queued, so that what the delivery queues for
        the same time comes after it.
        """
        env, flying, arrival = self._env, self.flying, self.arrival
        queue, numbers, deliver = arrival.queue, arrival.numbers, self.deliver
        segment = flying.popleft()[1]
        while flying:
            number = next(numbers)
            deliver(segment)
            time, segment = flying[0]
            if (not queue or time >= queue[0][0]) and not arrival.comes_first(time, number):
                return
            env._now = time
            del flying[0]
        deliver(segment)


class Uplink:
    """Two links in a row of which the second takes at once what arrives from the first: one event in all.

    Parameters
    ----------
    env
        The clock.
    first, second
        The links; nothing else is sent on them, and nobody is told of their frames.
    """

    def __init__(self, env: Environment, first: Link, second: Link) -> None:
        self._env, self.transmitter, self._second = env, first, second

    def send(self, segment: Segment) -> None:
        """Queue one segment behind those not yet sent."""
        first, second, size = self.transmitter, self._second, segment.wire_bytes
        queued_s, free_at = self._env.now, first.free_at
        first.free_at = sent = (free_at if free_at > queued_s else queued_s) + size * first.s_per_byte
        queued_s, free_at = sent + first.latency_s, second.free_at
        second.free_at = sent = (free_at if free_at > queued_s else queued_s) + size * second.s_per_byte
        arrives_s, flying = sent + second.latency_s, second.flying
        if not flying:
            second.arrival.arm(arrives_s)
        flying.append((arrives_s, segment))
