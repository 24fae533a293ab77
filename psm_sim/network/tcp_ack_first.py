"""TCP endpoint that acknowledges data before the application reads them, as ns-3 does."""

from __future__ import annotations

from psm_sim.network.tcp_endpoint import Endpoint
from psm_sim.network.tcp_receiver import NOW


class AckFirst(Endpoint):
    """Endpoint for ``tcp.ack_first``.

    A server acknowledges the first request of a connection at once. An endpoint that answers a FIN with its
    own FIN sends a bare ACK before and after it.
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
