"""Host with its open TCP connections."""

from __future__ import annotations

from collections.abc import Callable

from simpy import Environment

from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.network.tcp_endpoint import AckFirst, Application, Endpoint
from psm_sim.network.tcp_sender import TcpConstants
from psm_sim.network.tcp_stacks import TCP_STACKS
from psm_sim.network.timers import TimerQueue
from psm_sim.network.topology_sections import TcpParameters


class Host:
    """Host that opens and accepts TCP connections and dispatches segments to them.

    Parameters
    ----------
    env, tcp
        The clock and the TCP parameters. A host that accepts connections has the stack of a server.
    transmit
        Function that sends a segment of the host.
    accept : callable or None
        Creates the application for a connection that the peer opens. None: the host accepts no connections.

    Attributes
    ----------
    give_up : callable
        Called with each connection that is given up before all its data were acknowledged. Set it before the
        first connection is opened.
    endpoints : dict of ConnectionId to Endpoint
        Connections that are not yet closed in both directions.
    datagram_handlers : dict of ConnectionId to callable
        Receivers of datagrams, such as those of a DNS look-up. Other datagrams are ignored.
    sent_bytes, received_bytes : int
        Bytes sent and received, including headers.
    retransmissions : int
        Number of retransmitted segments of closed connections.
    """

    def __init__(
        self,
        env: Environment,
        tcp: TcpParameters,
        transmit: Callable[[Segment], None],
        accept: Callable[[Endpoint], Application] | None = None,
    ) -> None:
        stack = TCP_STACKS[tcp.stack] if accept is None else TCP_STACKS[TCP_STACKS[tcp.stack].server]
        self._timers, self._constants = TimerQueue(env), TcpConstants(tcp, stack)
        self.transmit, self.accept = transmit, accept
        self._endpoint = AckFirst if stack.acknowledges_first else Endpoint
        self.endpoints: dict[ConnectionId, Endpoint] = {}
        self._opened = 0
        self.datagram_handlers: dict[ConnectionId, Callable[[Segment], None]] = {}
        self.give_up: Callable[[Endpoint], None] = lambda _: None
        self.sent_bytes = 0
        self.received_bytes = 0
        self.retransmissions = 0

    def connect(self, application: Callable[[Endpoint], Application]) -> Endpoint:
        """Open a connection for a new application."""
        endpoint = self._add(ConnectionId([], self._opened), application)
        self._opened += 1
        endpoint.open()
        return endpoint

    def send(self, segment: Segment) -> None:
        """Send one segment."""
        self.sent_bytes += segment.wire_bytes
        self.transmit(segment)

    def receive(self, segment: Segment) -> None:
        """Pass one segment to its connection. A new SYN opens a connection."""
        self.received_bytes += segment.wire_bytes
        endpoint = self.endpoints.get(segment.connection)
        if endpoint is None:
            endpoint = self._receive_unknown(segment)
            if endpoint is None:
                return
        endpoint.receive(segment)
        if endpoint.peer_has_closed and endpoint.is_closed():
            self._remove(endpoint)

    def _add(self, connection: ConnectionId, application: Callable[[Endpoint], Application]) -> Endpoint:
        endpoint = self._endpoint(self._timers, self._constants, connection, self, self._give_up)
        endpoint.application = application(endpoint)
        self.endpoints[connection] = endpoint
        return endpoint

    def _remove(self, endpoint: Endpoint) -> None:
        endpoint.stop()
        self.retransmissions += endpoint.retransmissions
        del self.endpoints[endpoint.connection]

    def _give_up(self, endpoint: Endpoint) -> None:
        self._remove(endpoint)
        # If only the FIN is unacknowledged, all data have arrived and nothing has failed.
        if endpoint.acknowledged < endpoint.written:
            self.give_up(endpoint)

    def _receive_unknown(self, segment: Segment) -> Endpoint | None:
        if segment.connection in self.datagram_handlers:
            self.datagram_handlers[segment.connection](segment)
            return None
        if segment.syn and segment.ack == 0 and self.accept is not None:
            return self._add(segment.connection, self.accept)
        if segment.fin:
            # The last ACK was lost after the connection was closed: answer as in TIME-WAIT (RFC 9293, 3.6.1).
            ack = segment.seq + segment.payload + 1
            self.send(Segment(segment.connection, segment.ack, 0, ack, False, False, self._constants.header))
        return None
