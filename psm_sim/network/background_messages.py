"""Sender of background traffic: datagrams, and messages on persistent connections."""

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


class BackgroundMessages:
    """Sender of messages between station and server.

    Hosts ignore datagrams, so the sender intercepts them at the access point, at the station and at the
    server.

    Parameters
    ----------
    env, client, server
        The clock, the station's host and the server's host.
    messages
        The messages to send.

    Attributes
    ----------
    stats : dict of str to MessageStats
        Message statistics by direction.
    sent : int
        Number of downlink datagrams that reached the access point.
    delays_s : list of float
        Delay of each delivered downlink datagram from access point to station, in seconds.
    """

    def __init__(self, env: Environment, client: Host, server: Host, messages: Messages) -> None:
        self._env, self._client, self._server, self._messages = env, client, server, messages
        self._connection = ConnectionId()
        self._flying: dict[Segment, MessageTransit] = {}
        self._reached_s: dict[Segment, float] = {}
        self._persistent: dict[int, PersistentConnection] = {}
        self._forward: Deliver
        self.stats = make_stats(messages)
        self.sent = 0
        self.delays_s: list[float] = []

    def send(self) -> Generator[Event, None, None]:
        """Open the persistent connections and send each message at its time (a SimPy process)."""
        env = self._env
        for number in self._messages.connections:
            self._persistent[number] = PersistentConnection(self._client, self._handle_arrival)
        for message in self._messages:
            yield env.timeout(max(0.0, message.at_s - env.now))
            self._start(MessageTransit(message, env.now, stats_of(self.stats, message)))

    def at_listener(self, accept: Callable[[Endpoint], Application]) -> Callable[[Endpoint], Application]:
        """Return a wrapper of *accept* that handles the persistent connections itself."""

        def accept_any(endpoint: Endpoint) -> Application:
            for persistent in self._persistent.values():
                if persistent.connection is endpoint.connection:
                    return persistent.accept(endpoint)
            return accept(endpoint)

        return accept_any

    def reopen(self, given_up: Endpoint, abort: Callable[[Endpoint], None]) -> None:
        """Reopen a persistent connection that was given up. The messages on it are lost.

        Parameters
        ----------
        given_up
            The endpoint that has given up. Endpoints of other connections are ignored.
        abort
            Function that aborts the station's endpoint, which may still be open.
        """
        for number, persistent in list(self._persistent.items()):
            if persistent.connection is given_up.connection:
                abort(persistent.endpoint)
                for transit in persistent.awaited:
                    transit.stats.lose()
                self._persistent[number] = PersistentConnection(self._client, self._handle_arrival)

    def at_access_point(self, forward: Deliver) -> Deliver:
        """Return a wrapper of *forward* that records when datagrams reach the access point."""

        def record(segment: Segment) -> None:
            if segment.connection is self._connection:
                self.sent += 1
                self._reached_s[segment] = self._env.now
            forward(segment)

        self._forward = record
        return record

    def at_station(self, deliver: Deliver) -> Deliver:
        """Return a wrapper of *deliver* that records the delays of datagrams to the station."""

        def record(segment: Segment) -> None:
            if segment.connection is self._connection:
                self.delays_s.append(self._env.now - self._reached_s.pop(segment))
                self._handle_arrival(self._flying.pop(segment))
            deliver(segment)

        return record

    def at_server(self, deliver: Deliver) -> Deliver:
        """Return a wrapper of *deliver* that handles datagrams to the server."""

        def record(segment: Segment) -> None:
            if segment.connection is self._connection:
                self._handle_arrival(self._flying.pop(segment))
            deliver(segment)

        return record

    def _start(self, transit: MessageTransit) -> None:
        message = transit.message
        if message.connection != DATAGRAM:
            self._persistent[message.connection].write(transit, message.bytes, message.uplink)
        elif message.uplink or not self._messages.at_access_point:
            self._send_datagram(transit, message.bytes, message.uplink)
        else:
            self._server.sent_bytes += message.bytes
            self._forward(self._segment(transit, message.bytes))

    def _handle_arrival(self, transit: MessageTransit) -> None:
        """Handle the arrival of a message or of its reply: send the reply, or record the latency."""
        message = transit.message
        if transit.answered or not message.reply_bytes:
            transit.stats.arrived(transit.number, self._env.now - transit.sent_s)
            return
        transit.answered = True
        ready = self._env.timeout(message.reply_delay_s)
        ready.callbacks.append(lambda _: self._reply(transit))

    def _reply(self, transit: MessageTransit) -> None:
        message = transit.message
        if message.connection != DATAGRAM:
            self._persistent[message.connection].write(transit, message.reply_bytes, not message.uplink)
        else:
            self._send_datagram(transit, message.reply_bytes, not message.uplink)

    def _send_datagram(self, transit: MessageTransit, size: int, uplink: bool) -> None:
        (self._client if uplink else self._server).send(self._segment(transit, size))

    def _segment(self, transit: MessageTransit, size: int) -> Segment:
        segment = Segment(self._connection, 0, max(0, size - HEADER_BYTES), 0, False, False, size)
        self._flying[segment] = transit
        return segment
