"""Background traffic: datagrams, messages on persistent connections, and their latencies."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Generator

from simpy import Environment, Event

from psm_sim.network.host import Host
from psm_sim.network.segment import ConnectionId, RecordedPacket, Segment
from psm_sim.network.tcp_endpoint import Application, Endpoint
from psm_sim.policies import Frame
from psm_sim.workload.messages import DATAGRAM, Message, Messages


class MessageStats:
    """Message counts and latencies of one direction.

    A datagram counts as lost if a later one has arrived, because datagrams rarely overtake each other. Before
    that, a missing datagram counts as in transit. A message on a connection is lost only if an end gives the
    connection up.

    Attributes
    ----------
    latencies_s : array of float
        Latency of each message that arrived, in seconds.
    sent : int
        Number of messages sent.
    """

    def __init__(self) -> None:
        self.latencies_s = array("d")
        self.sent = 0
        self._datagrams = self._datagrams_arrived = 0
        self._last = self._lost_on_connections = 0

    def start(self, message: Message) -> int:
        """Count a sent message. Return the number of a datagram (1, 2, ...), or 0 for another message."""
        self.sent += 1
        if message.connection != DATAGRAM:
            return 0
        self._datagrams += 1
        return self._datagrams

    def arrived(self, number: int, latency_s: float) -> None:
        """Record the latency of a message. *number* is the result of :meth:`start`."""
        self.latencies_s.append(latency_s)
        self._datagrams_arrived += number > 0
        self._last = max(self._last, number)

    def lose(self) -> None:
        """Record a message that was lost with its connection."""
        self._lost_on_connections += 1

    @property
    def lost(self) -> int:
        """The number of messages lost so far."""
        return self._last - self._datagrams_arrived + self._lost_on_connections


class MessageTransit:
    """One message in transit, and its reply if it has one."""

    __slots__ = ("answered", "message", "number", "sent_s", "stats")

    def __init__(self, message: Message, sent_s: float, stats: MessageStats) -> None:
        self.message, self.sent_s, self.stats = message, sent_s, stats
        self.number = stats.start(message)
        self.answered = False


ArrivalCallback = Callable[[MessageTransit], None]


class MessageStream:
    """Application at one end of a persistent connection.

    It calls *arrived* with each message of the peer as soon as all bytes of the message have been received.
    Data written before the connection is established are sent afterwards.

    Attributes
    ----------
    endpoint : Endpoint
        The TCP endpoint; set when the connection is accepted.
    """

    __slots__ = ("_arrived", "_awaited", "_missing", "_open", "_waiting", "endpoint")

    def __init__(self, arrived: ArrivalCallback) -> None:
        self._arrived = arrived
        self._awaited: deque[tuple[MessageTransit, int]] = deque()
        self._missing = 0  # bytes missing from the oldest awaited message; negative if later ones have begun
        self._waiting = 0
        self._open = False
        self.endpoint: Endpoint

    def write(self, size: int) -> None:
        """Send *size* bytes to the peer, once the connection is established."""
        if self._open:
            self.endpoint.write(size)
        else:
            self._waiting += size

    @property
    def awaited(self) -> list[MessageTransit]:
        """The messages of the peer that have not arrived completely."""
        return [transit for transit, _ in self._awaited]

    def expect(self, transit: MessageTransit, size: int) -> None:
        """Register the next message that the peer sends, of *size* bytes."""
        self._awaited.append((transit, size))
        if len(self._awaited) == 1:
            self._missing += size

    def established(self) -> None:
        """Send the data that were written before the connection was established."""
        self._open = True
        if self._waiting:
            self.endpoint.write(self._waiting)

    def received(self, payload_bytes: int) -> None:
        """Count received bytes, and report each message that is now complete."""
        self._missing -= payload_bytes
        while self._awaited and self._missing <= 0:
            transit, _ = self._awaited.popleft()
            if self._awaited:
                self._missing += self._awaited[0][1]
            self._arrived(transit)

    def peer_closed(self) -> None:
        """Close this end after the peer has closed. In a run, persistent connections stay open."""
        self.endpoint.close()


class PersistentConnection:
    """Persistent connection, which the station opens at once. *arrived* receives each complete message."""

    def __init__(self, client: Host, arrived: ArrivalCallback) -> None:
        self._station, self._server = MessageStream(arrived), MessageStream(arrived)
        self.connection = client.connect(self._attach_station).connection

    @property
    def awaited(self) -> list[MessageTransit]:
        """The messages in transit, in both directions."""
        return self._station.awaited + self._server.awaited

    @property
    def endpoint(self) -> Endpoint:
        """The station's endpoint."""
        return self._station.endpoint

    def accept(self, endpoint: Endpoint) -> MessageStream:
        """Return the server's application, attached to *endpoint*."""
        self._server.endpoint = endpoint
        return self._server

    def write(self, transit: MessageTransit, size: int, uplink: bool) -> None:
        """Send a message of *size* bytes, from the station if *uplink* is true."""
        writer, reader = (self._station, self._server) if uplink else (self._server, self._station)
        reader.expect(transit, size)
        writer.write(size)

    def _attach_station(self, endpoint: Endpoint) -> MessageStream:
        self._station.endpoint = endpoint
        return self._station


UDP_HEADER_BYTES = 28
"""IP and UDP headers of a datagram."""

Deliver = Callable[[Segment], None]


class BackgroundMessages:
    """Sender of messages between station and server.

    It is the datagram handler of both hosts, and measures the delay of downlink datagrams from access point
    to station.

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
        client.datagram_handlers[self._connection] = server.datagram_handlers[self._connection] = (
            self._receive
        )
        self._flying: dict[Segment, MessageTransit] = {}
        self._reached_s: dict[Segment, float] = {}
        self._persistent: dict[int, PersistentConnection] = {}
        self._forward: Deliver
        self.stats = {direction: MessageStats() for direction in messages.directions}
        self.sent = 0
        self.delays_s: list[float] = []

    def send(self) -> Generator[Event, None, None]:
        """Open the persistent connections and send each message at its time (a SimPy process)."""
        env = self._env
        for number in self._messages.connections:
            self._persistent[number] = PersistentConnection(self._client, self._handle_arrival)
        for message in self._messages:
            yield env.timeout(max(0.0, message.at_s - env.now))
            self._start(MessageTransit(message, env.now, self.stats[message.direction]))

    def at_listener(self, accept: Callable[[Endpoint], Application]) -> Callable[[Endpoint], Application]:
        """Return a function that accepts persistent connections, and passes other connections to *accept*."""

        def accept_any(endpoint: Endpoint) -> Application:
            for persistent in self._persistent.values():
                if persistent.connection is endpoint.connection:
                    return persistent.accept(endpoint)
            return accept(endpoint)

        return accept_any

    def reopen(self, given_up: Endpoint, abort: Callable[[Endpoint], None]) -> None:
        """Replace a persistent connection that an end gave up, and count its messages in transit as lost.

        Parameters
        ----------
        given_up
            Endpoint that gave up its connection. Do nothing if the connection is not persistent.
        abort
            Function that closes an endpoint at once, if it is open. It is called with the station's endpoint.
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

    def _receive(self, segment: Segment) -> None:
        """Handle a datagram that has reached the station or the server."""
        if segment in self._reached_s:
            self.delays_s.append(self._env.now - self._reached_s.pop(segment))
        self._handle_arrival(self._flying.pop(segment))

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
        """Schedule the reply to an arrived message. If no reply is due any more, record the latency."""
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
        message, fields = transit.message, (0, max(0, size - UDP_HEADER_BYTES), 0, False, False, size)
        if message.flow == DATAGRAM:
            segment = Segment(self._connection, *fields)
        else:
            segment = recorded = RecordedPacket(self._connection, *fields)
            recorded.frame = Frame(message.flow, size, message.payload, message.syn, message.fin, message.mss)
        self._flying[segment] = transit
        return segment
