"""Growth of the congestion window in slow start."""

from __future__ import annotations

from psm_sim.network.tcp_constants import TcpConstants


class SlowStartGrowth:
    """Growth of the congestion window of one connection, by the rule ``tcp.growth``. Sizes are in bytes.

    With ``rfc5681`` an ACK adds the bytes that it acknowledges, at most one segment (RFC 5681, equation 2).
    With ``ns3`` it adds one segment if the bytes acknowledged so far complete a segment. The rule ``ns2``,
    one segment per ACK, needs no state and is implemented by the sender.
    """

    __slots__ = ("_counted", "_rule", "_segment")

    def __init__(self, constants: TcpConstants) -> None:
        self._rule, self._segment = constants.growth, constants.segment
        self._counted = 0

    def after(self, newly: int) -> int:
        """Return the increase of the window for an ACK of *newly* acknowledged bytes."""
        if self._rule == "rfc5681":
            return min(newly, self._segment)
        completed, self._counted = divmod(self._counted + newly, self._segment)
        return self._segment if completed else 0
