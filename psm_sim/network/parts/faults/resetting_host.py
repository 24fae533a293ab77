"""Host that can abort its connections and sends TCP resets (RST)."""

from __future__ import annotations

from typing import Any

from psm_sim.network.host import Host
from psm_sim.network.segment import ConnectionId, ResetSegment, Segment
from psm_sim.network.tcp_endpoint import Endpoint


class ResettingHost(Host):
    """Host whose connections can be aborted. It answers later segments of them with a reset.

    Parameters
    ----------
    arguments
        Arguments of :class:`~psm_sim.network.host.Host`.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._aborted: set[ConnectionId] = set()

    def knows(self, endpoint: Endpoint) -> bool:
        """Return whether a connection is open or half closed."""
        return self._endpoints.get(endpoint.connection) is endpoint

    def abort(self, endpoint: Endpoint) -> None:
        """Abort a connection, and reset the peer if the SYN was acknowledged (RFC 9293, section 3.10.5)."""
        if not self.knows(endpoint):
            return
        self._aborted.add(endpoint.connection)
        self._remove(endpoint)
        if endpoint.acknowledged > 0:
            self._reset(endpoint.connection, endpoint.next)

    def receive(self, segment: Segment) -> None:
        """Pass one segment to its connection, which a reset ends."""
        if not segment.rst:
            super().receive(segment)
            return
        self.received_bytes += segment.wire_bytes
        endpoint = self._endpoints.get(segment.connection)
        if endpoint is not None:
            self._remove(endpoint)

    def _give_up(self, endpoint: Endpoint) -> None:
        self._aborted.add(endpoint.connection)
        super()._give_up(endpoint)

    def _receive_unknown(self, segment: Segment) -> Endpoint | None:
        if segment.connection not in self._aborted:
            return super()._receive_unknown(segment)
        self._reset(segment.connection, segment.ack)
        return None

    def _reset(self, connection: ConnectionId, seq: int) -> None:
        self.send(ResetSegment(connection, seq, 0, 0, False, False, self._constants.header))
