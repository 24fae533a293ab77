"""Bit rate of the data frames of one link: constant, or with automatic rate fallback (ARF)."""

from __future__ import annotations

from dataclasses import replace

from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.topology_sections import RATES_MBPS, MacParameters


class DataRate:
    """Constant rate.

    Attributes
    ----------
    timing : FrameTiming
        Frame durations at the current rate.
    """

    def __init__(self, mac: MacParameters) -> None:
        self.timing = FrameTiming(mac)

    def succeeded(self) -> None:
        """Handle an acknowledged data frame."""

    def failed(self) -> None:
        """Handle a data frame without an ACK."""


class RateFallback(DataRate):
    """Automatic rate fallback (Kamerman and Monteban, Bell Labs Technical Journal 2(3), 1997).

    The rate begins at ``mac.data_mbps``, which it never exceeds. It falls by one step after every second
    transmission in a row without an ACK. It rises by one step after 10 ACKs in a row, or if the 15th
    transmission has an ACK. If the first transmission at a higher rate fails, it falls at once. These rules
    are those of ns-3.
    """

    _SUCCESSES, _TRANSMISSIONS = 10, 15

    def __init__(self, mac: MacParameters) -> None:
        super().__init__(mac)
        rates_mbps = [rate for rate in RATES_MBPS[mac.standard] if rate <= self.timing.data_mbps]
        self._timings = [FrameTiming(replace(mac, data_mbps=rate)) for rate in rates_mbps]
        self._number = len(rates_mbps) - 1
        self._successes = self._failures = self._transmissions = 0
        self._probing = False

    def succeeded(self) -> None:
        """Count an ACK, and raise the rate after enough of them."""
        self._transmissions += 1
        self._successes += 1
        self._failures, self._probing = 0, False
        enough = self._successes == self._SUCCESSES or self._transmissions == self._TRANSMISSIONS
        if enough and self._number < len(self._timings) - 1:
            self._transmissions = self._successes = 0
            self._probing = True
            self._use(self._number + 1)

    def failed(self) -> None:
        """Count a missing ACK, and lower the rate after the second one or after the first at a new rate."""
        self._transmissions += 1
        self._failures += 1
        self._successes = 0
        if self._failures == 1 if self._probing else self._failures % 2 == 0:
            self._use(max(0, self._number - 1))
        if self._probing or self._failures >= 2:
            self._transmissions = 0

    def _use(self, number: int) -> None:
        self._number, self.timing = number, self._timings[number]


def make_data_rate(mac: MacParameters) -> DataRate:
    """Return the rate of a link as ``mac.rate_control`` selects it."""
    return RateFallback(mac) if mac.rate_control == "arf" else DataRate(mac)
