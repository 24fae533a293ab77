"""Standing connection: a TCP connection that stays open for the run, with messages both ways."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from psm_sim.network.host import Host
from psm_sim.network.message_stats import MessageTransit
from psm_sim.network.tcp_endpoint import Endpoint

ArrivalCallback = Callable[[MessageTransit], None]


class MessageStream:
    """Program at one end: it knows by the count of bytes which message of the peer is complete.

    *arrived* is called with each; ``endpoint`` is there once the connection is accepted, and what is to be
    written before it is established waits.
    """

    __slots__ = ("_arrived", "_awaited", "_missing", "_open", "_waiting", "endpoint")

    def __init__(self, arrived: ArrivalCallback) -> None:
        self._arrived = arrived
        self._awaited: deque[tuple[MessageTransit, int]] = deque()
        self._missing = 0  # bytes of the first one awaited; below 0: of later ones
        self._waiting = 0
        self._open = False
        self.endpoint: Endpoint

    def write(self, size: int) -> None:
        """Write *size* bytes to the peer, or keep them until the connection is established."""
        if self._open:
            self.endpoint.write(size)
        else:
            self._waiting += size

    @property
    def awaited(self) -> list[MessageTransit]:
        """The messages of the peer that are not yet complete."""
        return [trip for trip, _ in self._awaited]

    def expect(self, trip: MessageTransit, size: int) -> None:
        """Take note that *size* bytes of the peer's stream, after those expected so far, are one message."""
        self._awaited.append((trip, size))
        if len(self._awaited) == 1:
            self._missing += size

    def established(self) -> None:
        """Write what waits."""
        self._open = True
        if self._waiting:
            self.endpoint.write(self._waiting)

    def received(self, payload_bytes: int) -> None:
        """Read bytes, and tell of each message that they complete."""
        self._missing -= payload_bytes
        while self._awaited and self._missing <= 0:
            trip, _ = self._awaited.popleft()
            if self._awaited:
                self._missing += self._awaited[0][1]
            self._arrived(trip)

    def peer_closed(self) -> None:
        """Close this side too; neither side closes first while the run lasts."""
        self.endpoint.close()


class PersistentConnection:
    """Standing connection: opened by the station at once, with a program at each end.

    Parameters
    ----------
    client
        The station's host.
    arrived
        Called with each trip whose message is complete at the other end.
    """

    def __init__(self, client: Host, arrived: ArrivalCallback) -> None:
        self._station, self._network = MessageStream(arrived), MessageStream(arrived)
        self.connection = client.connect(self._opened).connection

    @property
    def awaited(self) -> list[MessageTransit]:
        """The messages on their way, in both directions."""
        return self._station.awaited + self._network.awaited

    @property
    def endpoint(self) -> Endpoint:
        """The station's end."""
        return self._station.endpoint

    def accept(self, endpoint: Endpoint) -> MessageStream:
        """Return the program at the network's end."""
        self._network.endpoint = endpoint
        return self._network

    def write(self, trip: MessageTransit, size: int, uplink: bool) -> None:
        """Write a message.

        Parameters
        ----------
        trip
            Told of at the other end.
        size
            Bytes of the message, without headers.
        uplink
            Whether the station writes it.
        """
        writer, reader = (self._station, self._network) if uplink else (self._network, self._station)
        reader.expect(trip, size)
        writer.write(size)

    def _opened(self, endpoint: Endpoint) -> MessageStream:
        self._station.endpoint = endpoint
        return self._station
