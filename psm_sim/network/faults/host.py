"""Host whose connections can be broken off: it answers what still comes for them with a reset (RST)."""

from __future__ import annotations

from typing import Any

from psm_sim.network.host import Host
from psm_sim.network.segment import ConnectionId, ResetSegment, Segment
from psm_sim.network.tcp_endpoint import Endpoint


class ResettingHost(Host):
    """Host as :class:`~psm_sim.network.host.Host`, whose programs may leave before a connection is done.

    Parameters
    ----------
    arguments
        As for :class:`~psm_sim.network.host.Host`.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._broken_off: set[ConnectionId] = set()

    def knows(self, endpoint: Endpoint) -> bool:
        """Say whether a connection is still open, or half closed."""
        return self._endpoints.get(endpoint.connection) is endpoint

    def abort(self, endpoint: Endpoint) -> None:
        """Break a connection off, and tell the peer if it knows of it (RFC 9293, section 3.10.5)."""
        if not self.knows(endpoint):
            return
        self._broken_off.add(endpoint.connection)
        self._remove(endpoint)
        if endpoint.acknowledged > 0:
            self._reset(endpoint.connection, endpoint.next)

    def receive(self, segment: Segment) -> None:
        """Hand one segment to its connection; a reset ends it."""
        if not segment.rst:
            super().receive(segment)
            return
        self.received_bytes += segment.wire_bytes
        endpoint = self._endpoints.get(segment.connection)
        if endpoint is not None:
            self._remove(endpoint)

    def _given_up(self, endpoint: Endpoint) -> None:
        self._broken_off.add(endpoint.connection)
        super()._given_up(endpoint)

    def _unknown(self, segment: Segment) -> Endpoint | None:
        if segment.connection not in self._broken_off:
            return super()._unknown(segment)
        self._reset(segment.connection, segment.ack)
        return None

    def _reset(self, connection: ConnectionId, seq: int) -> None:
        self.send(ResetSegment(connection, seq, 0, 0, False, False, self._rules.header))
