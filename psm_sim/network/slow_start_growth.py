"""Growth of the congestion window in slow start: what an ACK adds, by what it acknowledges."""

from __future__ import annotations

from psm_sim.network.tcp_constants import TcpConstants


class SlowStartGrowth:
    """Growth of one connection's window by the rule of ``tcp.growth``; all sizes in bytes.

    ``rfc5681`` adds the bytes acknowledged, at most a segment (RFC 5681, equation 2); ``ns3`` a segment for
    each ACK that completes one, counting bytes from ACK to ACK. ``ns2``, a segment per ACK, counts nothing.
    """

    __slots__ = ("_counted", "_rule", "_segment")

    def __init__(self, rules: TcpConstants) -> None:
        self._rule, self._segment = rules.growth, rules.segment
        self._counted = 0

    def after(self, newly: int) -> int:
        """Return what to add to the window after an ACK for *newly* further bytes."""
        if self._rule == "rfc5681":
            return min(newly, self._segment)
        whole, self._counted = divmod(self._counted + newly, self._segment)
        return self._segment if whole else 0
