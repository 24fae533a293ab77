"""Timing of 802.11: how long each frame is on the air, and the gaps between them."""

from __future__ import annotations

from math import ceil

from psm_sim.network.topology_mac import RATES_MBPS, MacParameters

HEADER_BYTES = 36
"""MAC header of 24 B, frame check of 4 B, LLC and SNAP of 8 B: what a data frame adds to a packet."""
QOS_BYTES = 2
ACK_BYTES, POLL_BYTES, NULL_BYTES = 14, 20, 28

_SIFS_US = 10
_EXTENSION_US = 6  # silence after each OFDM frame at 2.4 GHz, so that a SIFS of 10 us is enough
_PREAMBLE_US = {"802.11g": 20, "802.11n": 36}


class FrameTiming:
    """Timing of one air; all times in seconds, rates in Mbit/s.

    A frame of 802.11b is a preamble with header, 192 us or 96 us, and its bits, up to a whole microsecond
    (802.11-2020, 16.3.4). One of OFDM is a preamble of 20 us, 36 us with that of 802.11n, and symbols of
    4 us, which also carry 16 bits of service and 6 of tail (17.4.3, 19.4.3); control frames and beacons of
    802.11n are sent as those of 802.11g. Frames are never aggregated.
    """

    def __init__(self, mac: MacParameters) -> None:
        self._mac, fast = mac, mac.standard != "802.11b"
        self.data_mbps = mac.data_mbps or RATES_MBPS[mac.standard][-1]
        usual = (6.0, 12.0, 24.0) if fast else (1.0, 2.0)
        usable = [rate for rate in usual if rate <= self.data_mbps]
        self.control_mbps = mac.control_mbps or max(usable, default=usual[0])
        self.beacon_mbps = mac.beacon_mbps or usual[0]
        self.poll_mbps = mac.poll_mbps or self.data_mbps
        self._header = HEADER_BYTES + QOS_BYTES * mac.qos
        self.sifs_s, self.slot_s = _SIFS_US / 1e6, (9 if fast else 20) / 1e6
        self.pifs_s = self.sifs_s + self.slot_s
        self.first_slots = 3 if mac.qos else 2
        self.cw_min = mac.cw_min if mac.cw_min is not None else min(15 if fast else 31, mac.cw_max)
        self.cw_max = mac.cw_max
        self.ack_s = self._old_s(ACK_BYTES, self.control_mbps)
        self.poll_s = self._air_s(POLL_BYTES, self.data_mbps, mac.standard)
        if mac.poll_mbps is not None:
            self.poll_s = self._old_s(POLL_BYTES, mac.poll_mbps)
        self.null_s = self._air_s(NULL_BYTES, self.data_mbps, mac.standard)
        self.beacon_s = self._old_s(mac.beacon_bytes, self.beacon_mbps)
        self.answer_s = self.sifs_s + self.ack_s
        # Who has not understood a frame leaves room for its ACK, at the lowest rate (EIFS without DIFS).
        self.eifs_s = self.sifs_s + self._old_s(ACK_BYTES, usual[0])
        preamble_us = _PREAMBLE_US["802.11g"] if fast else self._preamble_us(self.control_mbps)
        self.timeout_s = self.sifs_s + self.slot_s + preamble_us / 1e6
        self._known: dict[int, float] = {}

    def data_s(self, packet_bytes: int) -> float:
        """Return the time on the air of a data frame with a packet of that size, IP header included."""
        found = self._known.get(packet_bytes)
        if found is None:
            found = self._air_s(packet_bytes + self._header, self.data_mbps, self._mac.standard)
            self._known[packet_bytes] = found
        return found

    def _old_s(self, size: int, mbps: float) -> float:
        standard = "802.11b" if self._mac.standard == "802.11b" else "802.11g"
        return self._air_s(size, mbps, standard)

    def _air_s(self, size: int, mbps: float, standard: str) -> float:
        """Return the time on the air of a frame, in seconds; *size* in bytes with header and frame check."""
        if standard == "802.11b":
            return (self._preamble_us(mbps) + ceil(round(8 * size / mbps, 6))) / 1e6
        symbols = ceil(round((16 + 8 * size + 6) / (4 * mbps), 6))
        return (_PREAMBLE_US[standard] + 4 * symbols + _EXTENSION_US) / 1e6

    def _preamble_us(self, mbps: float) -> int:
        return 96 if self._mac.preamble == "short" and mbps > 1 else 192
