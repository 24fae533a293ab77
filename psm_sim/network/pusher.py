"""Pusher: sends datagrams that nobody asked for, from the server to the station, and times their delivery."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

from simpy import Environment, Event

from psm_sim.network.host import Host
from psm_sim.network.segment import Connection, Segment
from psm_sim.workload.push import Push

HEADER_BYTES = 28
"""IP and UDP headers of a datagram."""

Deliver = Callable[[Segment], None]


class Pusher:
    """Pusher of datagrams; the station's host knows no such connection, and ignores them.

    ``sent`` counts those that reached the access point; ``delays_s`` has the time in seconds from there to
    the station of each that was delivered, in order.
    """

    def __init__(self, env: Environment, server: Host) -> None:
        self._env, self._server = env, server
        self._connection = Connection()
        self._arrived_s: dict[Segment, float] = {}
        self.sent = 0
        self.delays_s: list[float] = []

    def push(self, pushes: Iterable[Push]) -> Generator[Event, None, None]:
        """Send each push at its time, in order (a SimPy process)."""
        for each in pushes:
            yield self._env.timeout(max(0.0, each.at_s - self._env.now))
            payload = max(0, each.bytes - HEADER_BYTES)
            self._server.send(Segment(self._connection, 0, payload, 0, False, False, each.bytes))

    def at_access_point(self, forward: Deliver) -> Deliver:
        """Return what takes frames that reach the access point: *forward*, after the time is noted."""

        def take(segment: Segment) -> None:
            if segment.connection is self._connection:
                self.sent += 1
                self._arrived_s[segment] = self._env.now
            forward(segment)

        return take

    def at_station(self, deliver: Deliver) -> Deliver:
        """Return what takes frames that reach the station: *deliver*, after the delay is noted."""

        def take(segment: Segment) -> None:
            if segment.connection is self._connection:
                self.delays_s.append(self._env.now - self._arrived_s.pop(segment))
            deliver(segment)

        return take
