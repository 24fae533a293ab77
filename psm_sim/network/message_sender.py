"""Messenger: sends what is beside the pages, datagrams and messages on standing connections, and times it."""

from __future__ import annotations

from collections.abc import Callable, Generator

from simpy import Environment, Event

from psm_sim.network.host import Host
from psm_sim.network.message_stats import MessageTransit, make_stats, stats_of
from psm_sim.network.persistent_connection import PersistentConnection
from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.network.tcp_endpoint import Application, Endpoint
from psm_sim.workload.messages import DATAGRAM, Messages

HEADER_BYTES = 28
"""IP and UDP headers of a datagram."""

Deliver = Callable[[Segment], None]


class MessageSender:
    """Messenger between the programs of station and server; their hosts know no datagrams and ignore them.

    ``lanes`` has the latencies by kind of way. ``sent`` counts the datagrams that reached the access point on
    their way to the station; ``delays_s`` has the time in seconds from there to the station of each that was
    delivered, in order.

    Parameters
    ----------
    env, client, server
        The clock, and the hosts of the station and of the network.
    messages
        What is sent.
    """

    def __init__(self, env: Environment, client: Host, server: Host, messages: Messages) -> None:
        self._env, self._client, self._server, self._messages = env, client, server, messages
        self._connection = ConnectionId()
        self._flying: dict[Segment, MessageTransit] = {}
        self._reached_s: dict[Segment, float] = {}
        self._standing: dict[int, PersistentConnection] = {}
        self._forward: Deliver
        self.lanes = make_stats(messages)
        self.sent = 0
        self.delays_s: list[float] = []

    def send(self) -> Generator[Event, None, None]:
        """Open the standing connections, and send each message at its time, in order (a SimPy process)."""
        env = self._env
        for number in self._messages.connections:
            self._standing[number] = PersistentConnection(self._client, self._arrived)
        for message in self._messages:
            yield env.timeout(max(0.0, message.at_s - env.now))
            self._start(MessageTransit(message, env.now, stats_of(self.lanes, message)))

    def at_listener(self, accept: Callable[[Endpoint], Application]) -> Callable[[Endpoint], Application]:
        """Return what takes connections that a station opens: *accept*, but for the standing ones."""

        def take(endpoint: Endpoint) -> Application:
            for standing in self._standing.values():
                if standing.connection is endpoint.connection:
                    return standing.accept(endpoint)
            return accept(endpoint)

        return take

    def reopen(self, given_up: Endpoint, abort: Callable[[Endpoint], None]) -> None:
        """Open a standing connection anew that was given up; the messages on it are lost.

        Parameters
        ----------
        given_up
            The end that has given up; if it is no standing connection's, nothing is done.
        abort
            Breaks off the station's end, which may not know.
        """
        for number, standing in list(self._standing.items()):
            if standing.connection is given_up.connection:
                abort(standing.endpoint)
                for trip in standing.awaited:
                    trip.lane.lose()
                self._standing[number] = PersistentConnection(self._client, self._arrived)

    def at_access_point(self, forward: Deliver) -> Deliver:
        """Return what takes frames that reach the access point: *forward*, after the time is noted."""

        def take(segment: Segment) -> None:
            if segment.connection is self._connection:
                self.sent += 1
                self._reached_s[segment] = self._env.now
            forward(segment)

        self._forward = take
        return take

    def at_station(self, deliver: Deliver) -> Deliver:
        """Return what takes frames that reach the station: *deliver*, after the delay is noted."""

        def take(segment: Segment) -> None:
            if segment.connection is self._connection:
                self.delays_s.append(self._env.now - self._reached_s.pop(segment))
                self._arrived(self._flying.pop(segment))
            deliver(segment)

        return take

    def at_server(self, deliver: Deliver) -> Deliver:
        """Return what takes frames that reach the server: *deliver*, after a datagram's arrival is noted."""

        def take(segment: Segment) -> None:
            if segment.connection is self._connection:
                self._arrived(self._flying.pop(segment))
            deliver(segment)

        return take

    def _start(self, trip: MessageTransit) -> None:
        message = trip.message
        if message.connection != DATAGRAM:
            self._standing[message.connection].write(trip, message.bytes, message.uplink)
        elif message.uplink or not self._messages.at_access_point:
            self._datagram(trip, message.bytes, message.uplink)
        else:
            self._server.sent_bytes += message.bytes
            self._forward(self._segment(trip, message.bytes))

    def _arrived(self, trip: MessageTransit) -> None:
        """Note that one way is done: the other side answers, or the trip is over."""
        message = trip.message
        if trip.answered or not message.reply_bytes:
            trip.lane.arrived(trip.number, self._env.now - trip.sent_s)
            return
        trip.answered = True
        ready = self._env.timeout(message.reply_delay_s)
        ready.callbacks.append(lambda _: self._answer(trip))

    def _answer(self, trip: MessageTransit) -> None:
        message = trip.message
        if message.connection != DATAGRAM:
            self._standing[message.connection].write(trip, message.reply_bytes, not message.uplink)
        else:
            self._datagram(trip, message.reply_bytes, not message.uplink)

    def _datagram(self, trip: MessageTransit, size: int, uplink: bool) -> None:
        (self._client if uplink else self._server).send(self._segment(trip, size))

    def _segment(self, trip: MessageTransit, size: int) -> Segment:
        segment = Segment(self._connection, 0, max(0, size - HEADER_BYTES), 0, False, False, size)
        self._flying[segment] = trip
        return segment
