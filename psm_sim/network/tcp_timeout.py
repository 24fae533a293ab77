"""Retransmission timeout, from an estimate of the round-trip time (RFC 6298)."""

from __future__ import annotations

from psm_sim.network.topology_parts import TcpParameters


class RetransmissionTimeout:
    """The timeout ``seconds``, from samples of the round trip and the back-off after each expiry."""

    __slots__ = ("_largest", "_least", "_smoothed", "_variation", "seconds")

    def __init__(self, tcp: TcpParameters) -> None:
        self._least, self._largest = tcp.min_rto_ms / 1000, tcp.max_rto_ms / 1000
        self._smoothed: float | None = None
        self._variation = 0.0
        self.seconds = tcp.initial_rto_ms / 1000

    def sample(self, round_trip_s: float) -> None:
        """Take one measured round trip, in seconds (RFC 6298, equations 2.2 and 2.3)."""
        smoothed = self._smoothed
        if smoothed is None:
            smoothed, variation = round_trip_s, round_trip_s / 2
        else:
            error = smoothed - round_trip_s
            variation = 0.75 * self._variation + 0.25 * (error if error > 0.0 else -error)
            smoothed = 0.875 * smoothed + 0.125 * round_trip_s
        self._smoothed, self._variation = smoothed, variation
        seconds = smoothed + 4.0 * variation
        if seconds < self._least:
            seconds = self._least
        elif seconds > self._largest:
            seconds = self._largest
        self.seconds = seconds

    def back_off(self) -> None:
        """Double the timeout after it has expired (RFC 6298, 5.5)."""
        self.seconds = min(2 * self.seconds, self._largest)
