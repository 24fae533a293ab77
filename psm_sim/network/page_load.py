"""Loading of a page by its dependencies, over connections of HTTP/1.1 and HTTP/2 to several hosts.

All recorded hosts are at the simulated server. If the round-trip time of the topology is shorter than
recorded, the server delays each reply and each handshake by the difference. The first byte of a reply then
arrives after the recorded time. If the round-trip time is longer, the byte arrives later.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial

from simpy import Environment

from psm_sim.network.background_messages import UDP_HEADER_BYTES
from psm_sim.network.browser import Browser
from psm_sim.network.host import Host
from psm_sim.network.segment import ConnectionId, Request, Segment
from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.timers import ReusableEvent
from psm_sim.network.topology import Topology
from psm_sim.workload.page_view import PAGE_START, DependencyPage, PageHost

TLS_BYTES = (600, 4000)
"""Bytes that the client and the server send in a TLS handshake of one round trip (RFC 8446).

The server's bytes are mostly its certificates.
"""

DNS_BYTES = (70, 130)
"""Bytes of a query for a name and of its answer, with IP and UDP headers."""

DNS_RETRY_S = 5.0
"""Time after which an unanswered query is repeated, as resolvers do."""

LOCAL_DNS_S = 0.001
"""Longest time of a look-up that the device itself answers."""

_HANDSHAKE = -1
"""Index of a TLS handshake among the requests of a connection."""


class PageLoad:
    """Loading of one page by a browser."""

    def __init__(
        self,
        env: Environment,
        browser: Browser,
        ends: tuple[Host, Host],
        topology: Topology,
        page: DependencyPage,
    ) -> None:
        self.env, self.browser, self.ends = env, browser, ends
        self.round_trip_s, self.connections = topology.round_trip_s, topology.browser.connections
        self._page, self._sizes = page, (page.main_bytes, *page.image_bytes)
        self._ended, self._missing = browser.page_ended, page.objects
        self._hosts = [PageHostLoad(self, host) for host in page.graph.hosts]
        self._followers: defaultdict[tuple[int, bool], list[int]] = defaultdict(list)
        for index, release in enumerate(page.graph.releases):
            self._followers[release.depends_on, release.at_first_byte].append(index)
        self._happened(PAGE_START, at_first_byte=False)

    @property
    def is_over(self) -> bool:
        """Whether the page is complete or has failed."""
        return self._ended.triggered

    def after(self, delay_s: float, action: Callable[[], None]) -> None:
        """Call *action* after *delay_s* seconds, unless the page is over then."""

        def act() -> None:
            if not self.is_over:
                action()

        if delay_s > 0:
            ReusableEvent(self.env, lambda _: act()).arm(self.env.now + delay_s)
        else:
            act()

    def received_first_byte(self, index: int) -> None:
        """Schedule the requests that wait for the first byte of object *index*."""
        self._happened(index, at_first_byte=True)

    def received_last_byte(self, index: int) -> None:
        """Schedule the requests that wait for the end of object *index*. The last object ends the page."""
        self._missing -= 1
        self._happened(index, at_first_byte=False)
        if not self._missing:
            for host in self._hosts:
                host.close()
            self.browser.finish_page()

    def _happened(self, anchor: int, *, at_first_byte: bool) -> None:
        for index in self._followers.pop((anchor, at_first_byte), ()):
            self.after(self._page.graph.releases[index].gap_s, partial(self._request, index))

    def _request(self, index: int) -> None:
        page, release = self._page, self._page.graph.releases[index]
        host = self._hosts[release.host]
        delay_s = host.lacking_s(page.server_delay_s[index] + host.recorded.rtt_s)
        request = Request(page.request_bytes[index], self._sizes[index], delay_s, object_index=index)
        host.request(request, multiplexed=release.multiplexed)


class PageHostLoad:
    """One host of a page: its DNS look-up and its connections."""

    def __init__(self, load: PageLoad, recorded: PageHost) -> None:
        self._load, self.recorded = load, recorded
        self._pools: dict[bool, ConnectionPool] = {}
        self._asked = False
        self.is_resolved = recorded.dns_s <= LOCAL_DNS_S

    def lacking_s(self, recorded_s: float) -> float:
        """Return the excess of a recorded time over the round trip of the topology, in seconds."""
        return max(0.0, recorded_s - self._load.round_trip_s)

    def request(self, request: Request, *, multiplexed: bool) -> None:
        """Request an object, after the name of the host has been looked up."""
        if multiplexed not in self._pools:
            self._pools[multiplexed] = ConnectionPool(self._load, self, multiplexed)
        self._pools[multiplexed].request(request)
        if not (self.is_resolved or self._asked):
            self._asked = True
            Lookup(self._load, self.lacking_s(self.recorded.dns_s), self._resolved)

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()

    def _resolved(self) -> None:
        self.is_resolved = True
        for pool in self._pools.values():
            pool.serve()


class ConnectionPool:
    """Connections of one protocol to one host, and the requests that wait for them, in order.

    HTTP/2 has one connection, which carries several requests at once. HTTP/1.1 has several, which carry one
    request at a time.
    """

    def __init__(self, load: PageLoad, host: PageHostLoad, multiplexed: bool) -> None:
        self.load, self.host, self._multiplexed = load, host, multiplexed
        self._limit = 1 if multiplexed else load.connections
        self._waiting: deque[Request] = deque()
        self._connections: list[ClientConnection] = []
        self._opening = 0
        self._ready: list[ClientConnection] = []

    def request(self, request: Request) -> None:
        """Request an object on a connection that is ready, or on the next one that becomes ready."""
        self._waiting.append(request)
        self.serve()

    def serve(self) -> None:
        """Send waiting requests on ready connections, and open connections for the other requests."""
        while self._ready and self._waiting:
            connection = self._ready[-1] if self._multiplexed else self._ready.pop()
            connection.send(self._waiting.popleft())
        while self.host.is_resolved and self._opening < len(self._waiting):
            if len(self._connections) == self._limit:
                return
            self._opening += 1
            self.load.browser.connect(self._application)

    def opened(self, connection: ClientConnection) -> None:
        """Handle the end of the handshakes of a connection."""
        self._opening -= 1
        self.idle(connection)

    def idle(self, connection: ClientConnection) -> None:
        """Mark a connection as ready for a further request, and send waiting requests."""
        if connection not in self._ready:
            self._ready.append(connection)
        self.serve()

    def close(self) -> None:
        """Close all connections."""
        for connection in self._connections:
            connection.close()

    def _application(self, endpoint: Endpoint) -> ClientConnection:
        self._connections.append(ClientConnection(endpoint, self))
        return self._connections[-1]


class ClientConnection:
    """Browser's end of one connection. Replies may arrive out of order."""

    __slots__ = ("_connection", "_endpoint", "_lacking_s", "_load", "_pool", "_replies_done", "_reply_bytes")

    def __init__(self, endpoint: Endpoint, pool: ConnectionPool) -> None:
        self._endpoint, self._pool, self._load = endpoint, pool, pool.load
        self._connection = endpoint.connection
        self._lacking_s = pool.host.lacking_s(pool.host.recorded.rtt_s)  # for the TCP handshake
        self._replies_done = 0
        self._reply_bytes = 0  # received bytes of the next reply

    def established(self) -> None:
        """Begin the TLS handshake of a secure host."""
        host = self._pool.host
        if self._load.is_over:
            return
        if host.recorded.secure:
            delay_s = host.lacking_s(max(host.recorded.tls_s, host.recorded.rtt_s))
            self.send(Request(*TLS_BYTES, delay_s, object_index=_HANDSHAKE))
        else:
            self._pool.opened(self)

    def send(self, request: Request) -> None:
        """Send a request.

        If the TCP handshake was shorter than recorded, the server delays the first reply by the difference.
        """
        delay_s, self._lacking_s = request.server_delay_s + self._lacking_s, 0.0
        self._connection.requests.append(request._replace(server_delay_s=delay_s))
        self._endpoint.write(request.request_bytes)

    def received(self, payload_bytes: int) -> None:
        """Receive bytes of one or several replies."""
        self._load.browser.note_progress()
        while payload_bytes:
            reply = self._connection.replies[self._replies_done]
            if not self._reply_bytes and reply.object_index != _HANDSHAKE:
                self._load.received_first_byte(reply.object_index)
            taken = min(payload_bytes, reply.reply_bytes - self._reply_bytes)
            payload_bytes -= taken
            self._reply_bytes += taken
            if self._reply_bytes == reply.reply_bytes:
                self._replies_done, self._reply_bytes = self._replies_done + 1, 0
                self._reply_done(reply)

    def peer_closed(self) -> None:
        """Close this end after the server has closed."""
        self._endpoint.close()

    def close(self) -> None:
        """Close the connection."""
        self._endpoint.close()

    def _reply_done(self, reply: Request) -> None:
        if reply.object_index == _HANDSHAKE:
            self._pool.opened(self)
        else:
            self._pool.idle(self)
            self._load.received_last_byte(reply.object_index)


class Lookup:
    """Look-up of a name by a datagram to a resolver at the server, which answers after *delay_s* seconds."""

    def __init__(self, load: PageLoad, delay_s: float, resolved: Callable[[], None]) -> None:
        self._load, self._delay_s, self._resolved = load, delay_s, resolved
        self._client, self._server = load.ends
        self._connection = ConnectionId()
        self._client.datagram_handlers[self._connection] = self._answered
        self._server.datagram_handlers[self._connection] = self._queried
        self._query()

    def _query(self) -> None:
        """Send the query, and repeat it until it is answered."""
        if self._connection in self._client.datagram_handlers:
            self._send(self._client, DNS_BYTES[0])
            self._load.after(DNS_RETRY_S, self._query)

    def _queried(self, _: Segment) -> None:
        self._load.after(self._delay_s, lambda: self._send(self._server, DNS_BYTES[1]))

    def _answered(self, _: Segment) -> None:
        for host in (self._client, self._server):
            del host.datagram_handlers[self._connection]
        self._load.after(0.0, self._resolved)

    def _send(self, host: Host, size: int) -> None:
        host.send(Segment(self._connection, 0, size - UDP_HEADER_BYTES, 0, False, False, size))
