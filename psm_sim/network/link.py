"""Unidirectional link with a bit rate, a propagation delay and in-order delivery."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

from simpy import Environment, Event

from psm_sim.network.segment import Segment
from psm_sim.network.timers import ReusableEvent
from psm_sim.network.topology_sections import LinkParameters

LinkName = Literal["wireless up", "wired up", "wired down", "wireless down"]
"""Names of the four links between station and server. "up" is the direction towards the server."""


class Link:
    """Link that transmits segments in sequence and delivers each after the propagation delay.

    Parameters
    ----------
    env, name
        The clock, and the name of the link.
    parameters
        Bit rate and delay.
    on_frame
        Called with the arguments of :meth:`Observer.frame <psm_sim.network.observers.Observer.frame>`.

    Attributes
    ----------
    deliver : callable
        Receives each segment on arrival; must be set before the first segment is sent.
    free_at : float
        Time in seconds at which all queued segments will have been transmitted.
    flying : deque of (float, Segment)
        Segments queued, in transmission or in propagation, with their arrival times.
    arrival : ReusableEvent
        Event at the arrival time of the first segment in ``flying``.
    s_per_byte, latency_s : float
        Transmission time of a byte, and propagation delay, in seconds.
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
        """Queue one segment at *queued_s* seconds, which may be in the future. None: now."""
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
            self._notify(segment, queued_s, arrives_s)

    def _notify(self, segment: Segment, queued_s: float, arrives_s: float) -> None:
        for callback in self._on_frame:
            callback(self, queued_s, arrives_s, segment)

    def hold_until(self, time_s: float) -> None:
        """Start no further transmission before *time_s* seconds."""
        self.free_at = max(self.free_at, time_s)

    def air_time_s(self, segment: Segment) -> float:
        """Return the transmission time of a segment, in seconds."""
        return segment.wire_bytes * self.s_per_byte

    @property
    def transmitter(self) -> Link:
        """The link on which the sender transmits: this link, or the first one of an :class:`Uplink`."""
        return self

    @property
    def in_flight_bytes(self) -> int:
        """The number of bytes of the segments in flight, including headers."""
        return sum(segment.wire_bytes for _, segment in self.flying)

    def _arrive(self, _: Event) -> None:
        """Deliver the first segment, and the following ones until another event comes first.

        SimPy orders events of the same time by their numbers. The next arrival gets its number before each
        delivery, so it precedes events that the delivery schedules for the same time. Delivering several
        segments in one event saves 6 % of the run time of ``psm``.
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
    """Two links in series, simulated with a single event per segment.

    This saves 6 % of the run time of ``psm``.

    Parameters
    ----------
    env
        The clock.
    first, second
        The links. They must carry no other segments, and their ``on_frame`` must be empty.
    """

    def __init__(self, env: Environment, first: Link, second: Link) -> None:
        self._env, self.transmitter, self._second = env, first, second

    def send(self, segment: Segment) -> None:
        """Queue one segment."""
        first, second, size = self.transmitter, self._second, segment.wire_bytes
        queued_s, free_at = self._env.now, first.free_at
        first.free_at = sent = (free_at if free_at > queued_s else queued_s) + size * first.s_per_byte
        queued_s, free_at = sent + first.latency_s, second.free_at
        second.free_at = sent = (free_at if free_at > queued_s else queued_s) + size * second.s_per_byte
        arrives_s, flying = sent + second.latency_s, second.flying
        if not flying:
            second.arrival.arm(arrives_s)
        flying.append((arrives_s, segment))
