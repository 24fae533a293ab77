"""Acknowledging first, as ns-3 does: an ACK that is due leaves before the program reads what came."""

from __future__ import annotations

from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.tcp_receiver import NOW


class AckFirst(Endpoint):
    """Endpoint under ``tcp.ack_first``.

    A server acknowledges the first request of a connection at once, and a FIN in answer to one has a bare ACK
    before it and after.
    """

    __slots__ = ()

    def _take(self, before: int) -> None:
        at_end = self.receiver.next == self._peer_fin
        if not at_end and (self.receiver.due is NOW or self.next == 1):
            self._send_ack()
        super()._take(before)

    def _end(self) -> None:
        self._send_ack()
        was_open = not self.closing
        super()._end()
        if was_open:
            self._send_ack()
