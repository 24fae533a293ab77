"""Persistent TCP connection that carries messages in both directions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from psm_sim.network.host import Host
from psm_sim.network.message_stats import MessageTransit
from psm_sim.network.tcp_endpoint import Endpoint

ArrivalCallback = Callable[[MessageTransit], None]


class MessageStream:
    """Application at one end of a persistent connection.

    It counts the received bytes to find the end of each message of the peer. Data written before the
    connection is established are sent afterwards.

    Parameters
    ----------
    arrived
        Called with each complete message.

    Attributes
    ----------
    endpoint : Endpoint
        The TCP endpoint; set when the connection is accepted.
    """

    __slots__ = ("_arrived", "_awaited", "_missing", "_open", "_waiting", "endpoint")

    def __init__(self, arrived: ArrivalCallback) -> None:
        self._arrived = arrived
        self._awaited: deque[tuple[MessageTransit, int]] = deque()
        self._missing = 0  # bytes missing of the first message; negative if later messages have begun
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
        """Expect a message of *size* bytes from the peer, after those already expected."""
        self._awaited.append((transit, size))
        if len(self._awaited) == 1:
            self._missing += size

    def established(self) -> None:
        """Send the data that wait for the connection."""
        self._open = True
        if self._waiting:
            self.endpoint.write(self._waiting)

    def received(self, payload_bytes: int) -> None:
        """Receive bytes and report each message that they complete."""
        self._missing -= payload_bytes
        while self._awaited and self._missing <= 0:
            transit, _ = self._awaited.popleft()
            if self._awaited:
                self._missing += self._awaited[0][1]
            self._arrived(transit)

    def peer_closed(self) -> None:
        """Close this end as well. Neither end closes first during a run."""
        self.endpoint.close()


class PersistentConnection:
    """Persistent connection, which the station opens at once.

    Parameters
    ----------
    client
        The station's host.
    arrived
        Called with each message that has arrived completely at the other end.
    """

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
        """Return the application at the server's end."""
        self._server.endpoint = endpoint
        return self._server

    def write(self, transit: MessageTransit, size: int, uplink: bool) -> None:
        """Send a message.

        Parameters
        ----------
        transit
            The message, which is reported on its arrival.
        size
            Payload size in bytes.
        uplink
            Whether the station sends it.
        """
        writer, reader = (self._station, self._server) if uplink else (self._server, self._station)
        reader.expect(transit, size)
        writer.write(size)

    def _attach_station(self, endpoint: Endpoint) -> MessageStream:
        self._station.endpoint = endpoint
        return self._station
