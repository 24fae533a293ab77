"""Host: its open TCP connections, and how segments find them."""

from __future__ import annotations

from collections.abc import Callable

from simpy import Environment

from psm_sim.network.segment import ConnectionId, Segment
from psm_sim.network.tcp_ack_first import AckFirst
from psm_sim.network.tcp_constants import TcpConstants
from psm_sim.network.tcp_endpoint import Application, Endpoint
from psm_sim.network.timers import TimerQueue
from psm_sim.network.topology_sections import TcpParameters


class Host:
    """Opens and accepts connections; counts the bytes, headers included, that it sends and receives.

    *transmit* takes what the host sends. *accept* makes the application of a connection that a peer
    opens; a host without it only opens connections itself. ``give_up`` is called with each connection that
    is given up before all it had to send was acknowledged; set it before the first one is opened.
    """

    def __init__(
        self,
        env: Environment,
        tcp: TcpParameters,
        transmit: Callable[[Segment], None],
        accept: Callable[[Endpoint], Application] | None = None,
    ) -> None:
        self._timers, self._rules = TimerQueue(env), TcpConstants(tcp)
        self.transmit, self.accept = transmit, accept
        self._endpoint = AckFirst if tcp.ack_first else Endpoint
        self._endpoints: dict[ConnectionId, Endpoint] = {}
        self._opened = 0
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
        """Let one segment out."""
        self.sent_bytes += segment.wire_bytes
        self.transmit(segment)

    def receive(self, segment: Segment) -> None:
        """Hand one segment to its connection; one whose SYN is new is accepted."""
        self.received_bytes += segment.wire_bytes
        endpoint = self._endpoints.get(segment.connection)
        if endpoint is None:
            endpoint = self._unknown(segment)
            if endpoint is None:
                return
        endpoint.receive(segment)
        if endpoint.peer_has_closed and endpoint.is_closed():
            self._remove(endpoint)
            endpoint.detach()

    @property
    def open_connections(self) -> int:
        """The number of connections not yet closed both ways."""
        return len(self._endpoints)

    def _add(self, connection: ConnectionId, application: Callable[[Endpoint], Application]) -> Endpoint:
        endpoint = self._endpoint(self._timers, self._rules, connection, self, self._given_up)
        endpoint.application = application(endpoint)
        self._endpoints[connection] = endpoint
        return endpoint

    def _remove(self, endpoint: Endpoint) -> None:
        endpoint.stop()
        self.retransmissions += endpoint.retransmissions
        del self._endpoints[endpoint.connection]

    def _given_up(self, endpoint: Endpoint) -> None:
        self._remove(endpoint)
        # A FIN alone is nobody's loss: the program is done, and the system forgets the connection.
        if endpoint.acknowledged < endpoint.written:
            self.give_up(endpoint)

    def _unknown(self, segment: Segment) -> Endpoint | None:
        if segment.syn and segment.ack == 0 and self.accept is not None:
            return self._add(segment.connection, self.accept)
        if segment.fin:
            # Closed here, but the last ACK was lost: answer as TIME-WAIT does (RFC 9293, 3.6.1).
            ack = segment.seq + segment.payload + 1
            self.send(Segment(segment.connection, segment.ack, 0, ack, False, False, self._rules.header))
        return None
