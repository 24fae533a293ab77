"""Retransmission timeout, from an estimate of the round-trip time (RFC 6298)."""

from __future__ import annotations

from psm_sim.network.tcp_constants import TcpConstants


class RetransmissionTimeout:
    """Retransmission timeout ``seconds``, from round-trip samples and exponential back-off."""

    __slots__ = ("_constants", "_smoothed", "_variation", "seconds")

    def __init__(self, constants: TcpConstants) -> None:
        self._constants = constants
        self._smoothed: float | None = None
        self._variation = 0.0
        self.seconds = constants.first_timeout_s

    def sample(self, round_trip_s: float) -> None:
        """Update the estimate with a measured round trip in seconds (RFC 6298, 2.2 and 2.3)."""
        smoothed = self._smoothed
        if smoothed is None:
            smoothed, variation = round_trip_s, round_trip_s / 2
        else:
            error = smoothed - round_trip_s
            variation = 0.75 * self._variation + 0.25 * (error if error > 0.0 else -error)
            smoothed = 0.875 * smoothed + 0.125 * round_trip_s
        self._smoothed, self._variation = smoothed, variation
        seconds, constants = smoothed + 4.0 * variation, self._constants
        if seconds < constants.min_timeout_s:
            seconds = constants.min_timeout_s
        elif seconds > constants.max_timeout_s:
            seconds = constants.max_timeout_s
        self.seconds = seconds

    def back_off(self) -> None:
        """Double the timeout after it has expired (RFC 6298, 5.5)."""
        self.seconds = min(2 * self.seconds, self._constants.max_timeout_s)
