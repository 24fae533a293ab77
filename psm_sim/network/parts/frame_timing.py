"""Durations of 802.11 frames and interframe spaces."""

from __future__ import annotations

from math import ceil, inf

from psm_sim.network.segment import NULL_BYTES
from psm_sim.network.topology_sections import RATES_MBPS, MacParameters

MAC_HEADER_BYTES = 36
"""Bytes that a data frame adds to a packet: MAC header 24, frame check sequence 4, LLC and SNAP 8."""
QOS_BYTES = 2
"""QoS control field (802.11-2020, 9.2.4.5)."""
# Control frames with their frame check sequences (802.11-2020, 9.3.1).
ACK_BYTES, POLL_BYTES, RTS_BYTES = 14, 20, 20
REQUEST_BYTES, BLOCK_ACK_BYTES = 24, 32  # block ack request, and block ack with a compressed bitmap
DELIMITER_BYTES = 4
"""Size of the delimiter before each MPDU of an A-MPDU.

All MPDUs except the last are padded to a multiple of this size.
"""
BEACON_BYTES = {"802.11b": 84, "802.11g": 97, "802.11n": 149}
"""Size of a beacon with timestamp, SSID of 7 letters, rates, channel, TIM and access categories.

Beacons of 802.11g add further rates and ERP information; beacons of 802.11n also add HT capabilities and HT
operation.
"""

CW_MIN = {"802.11b": 31, "802.11g": 15, "802.11n": 15}
"""Minimum contention window."""
CW_MAX, RETRY_LIMIT = 1023, 7
"""Maximum contention window, and retransmissions before a frame is lost (802.11-2020, 10.3.3)."""

_SIFS_US = 10  # 802.11-2020, aSIFSTime at 2.4 GHz
_EXTENSION_US = 6  # signal extension of OFDM frames at 2.4 GHz, which makes a SIFS of 10 us sufficient
_PREAMBLE_US = {"802.11g": 20, "802.11n": 36}  # 802.11-2020, 17.3.2, and 19.3.2 for HT-mixed


class FrameTiming:
    """Frame timing of one channel. Times are in seconds, rates in Mbit/s.

    An 802.11b frame consists of a preamble with header (192 us or 96 us) and its bits, rounded up to a whole
    microsecond (802.11-2020, 16.3.4). An OFDM frame consists of a preamble of 20 us, or 36 us for 802.11n,
    and of symbols of 4 us. The symbols also carry 16 service bits and 6 tail bits (17.4.3, 19.4.3). Control
    frames of 802.11n are sent in the 802.11g format. Beacons at rates of 802.11b have the 802.11b format.

    ``ampdu_limit`` is the maximum size of an A-MPDU in bytes, or 0 without aggregation. An A-MPDU contains
    only frames among the first ``block_ack_window`` frames in the queue. An RTS precedes each frame of more
    than ``rts_bytes``, and begins ``protection_s`` earlier.
    """

    def __init__(self, mac: MacParameters) -> None:
        self._mac, ofdm = mac, mac.standard != "802.11b"
        self.data_mbps = mac.data_mbps or RATES_MBPS[mac.standard][-1]
        basic = (6.0, 12.0, 24.0) if ofdm else (1.0, 2.0)
        usable = [rate for rate in basic if rate <= self.data_mbps]
        self.control_mbps = max(usable, default=basic[0])
        self.beacon_mbps = mac.beacon_mbps
        self._header = MAC_HEADER_BYTES + QOS_BYTES * mac.qos
        self.sifs_s, self.slot_s = _SIFS_US / 1e6, (9 if ofdm else 20) / 1e6
        self.pifs_s = self.sifs_s + self.slot_s
        self.first_slots = 3 if mac.qos else 2
        self.cw_min = CW_MIN[mac.standard]
        self.ack_s = self._legacy_s(ACK_BYTES, self.control_mbps)
        self.poll_s = self._air_s(POLL_BYTES, self.data_mbps, mac.standard)
        self.null_s = self._air_s(NULL_BYTES, self.data_mbps, mac.standard)
        beacon_bytes = BEACON_BYTES[mac.standard] if mac.beacon_bytes is None else mac.beacon_bytes
        format_ = "802.11b" if mac.beacon_mbps in RATES_MBPS["802.11b"] else "802.11g"
        self.beacon_s = self._air_s(beacon_bytes, mac.beacon_mbps, format_)
        self.answer_s = self.sifs_s + self.ack_s
        # EIFS without DIFS: time for an ACK at the lowest rate, after a frame received with errors.
        self.eifs_s = self.sifs_s + self._legacy_s(ACK_BYTES, basic[0])
        # ns-3 waits for an EIFS only after a decoded header. It decodes no header of colliding OFDM frames.
        self.after_collision_s = 0.0 if ofdm else self.eifs_s
        preamble_us = _PREAMBLE_US["802.11g"] if ofdm else self._preamble_us(self.control_mbps)
        self.timeout_s = self.sifs_s + self.slot_s + preamble_us / 1e6
        self.rts_s = self._legacy_s(RTS_BYTES, self.control_mbps)
        self.request_s = self._legacy_s(REQUEST_BYTES, self.control_mbps)
        self.block_ack_s = self._legacy_s(BLOCK_ACK_BYTES, self.control_mbps)
        self.protection_s = self.rts_s + self.answer_s + self.sifs_s
        self.rts_bytes = inf if mac.rts_bytes is None else mac.rts_bytes
        self.block_ack_window, self.block_ack_request = mac.block_ack_window, mac.block_ack_request
        self.ampdu_limit = self._ampdu_limit() if mac.standard == "802.11n" else 0
        self._cache: dict[int, float] = {}

    def data_s(self, packet_bytes: int) -> float:
        """Return the duration of a data frame with a packet of *packet_bytes*, including the IP header."""
        duration_s = self._cache.get(packet_bytes)  # the cache saves 5 % of the run time with mac.model=dcf
        if duration_s is None:
            duration_s = self._air_s(packet_bytes + self._header, self.data_mbps, self._mac.standard)
            self._cache[packet_bytes] = duration_s
        return duration_s

    def frame_bytes(self, packet_bytes: int) -> int:
        """Return the size of a data frame with a packet of *packet_bytes*."""
        return packet_bytes + self._header

    def ampdu_bytes(self, size: int, packet_bytes: int) -> int:
        """Return the new size of an A-MPDU of *size* bytes when a frame with a packet is appended."""
        padded = -(-size // DELIMITER_BYTES) * DELIMITER_BYTES
        return padded + DELIMITER_BYTES + packet_bytes + self._header

    def ampdu_s(self, size: int) -> float:
        """Return the duration of an A-MPDU of *size* bytes."""
        return self._air_s(size, self.data_mbps, "802.11n")

    def _ampdu_limit(self) -> int:
        """Return the largest A-MPDU size in bytes that meets the limits on size and duration."""
        symbols = (1000 * self._mac.ppdu_ms - _PREAMBLE_US["802.11n"] - _EXTENSION_US) // 4
        return min(self._mac.ampdu_bytes, int((4 * symbols * self.data_mbps - 22) // 8))

    def _legacy_s(self, size: int, mbps: float) -> float:
        standard = "802.11b" if self._mac.standard == "802.11b" else "802.11g"
        return self._air_s(size, mbps, standard)

    def _air_s(self, size: int, mbps: float, standard: str) -> float:
        """Return the duration of a frame of *size* bytes, including header and frame check sequence."""
        if standard == "802.11b":
            return (self._preamble_us(mbps) + ceil(round(8 * size / mbps, 6))) / 1e6
        symbols = ceil(round((16 + 8 * size + 6) / (4 * mbps), 6))
        return (_PREAMBLE_US[standard] + 4 * symbols + _EXTENSION_US) / 1e6

    def _preamble_us(self, mbps: float) -> int:
        return 96 if self._mac.preamble == "short" and mbps > 1 else 192
