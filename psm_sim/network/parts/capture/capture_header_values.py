"""Header values of a capture, the check that a topology can be captured, and an estimate of the file size."""

from __future__ import annotations

from collections.abc import Sequence

from psm_sim.common.errors import InputError
from psm_sim.network.parts.frame_timing import FrameTiming
from psm_sim.network.topology import Topology
from psm_sim.workload import Workload

SERVER_PORT, DATAGRAM_PORT = 80, 40_000  # port of HTTP, for which Wireshark shows requests, and a free port
MAX_STATIONS = 2007
"""Largest association number of an access point."""

_MIN_HEADER, _MAX_HEADER = 40, 80  # IPv4 and TCP headers without and with 40 bytes of TCP options
_MAX_PACKET, _MAX_WINDOW = 65_535, 65_535  # fields of 16 bits
_BEACON_RECORD, _DATA_RECORD, _ACK_RECORD = 98, 110, 48
"""Approximate sizes of records without payload, in bytes."""

SYN_OPTIONS = 8
"""Bytes of the options of a SYN, which are the maximum segment size and the window scale."""


class CaptureHeaderValues:
    """Header values of a capture, computed from a topology that passes :func:`check_capturable`.

    Attributes
    ----------
    beacon_s : float
        Beacon interval, in seconds.
    beacon_tu, dtim_period : int
        Beacon interval in time units, and DTIM period in beacons.
    beacon_gap_s, beacon_air_s : float
        Delay of a beacon from its due time to its transmission, and its duration, in seconds. Both are 0
        without the DCF.
    rate : int
        Rate of data frames in units of 500 kbit/s; 0 if radiotap cannot express it.
    rates : dict of str to int
        Rates of ACKs, PS-Polls and beacons in the same units; empty without the DCF.
    ack_us : int
        Duration field of a data frame, in microseconds.
    segment, header : int
        Maximum payload, and size of the IPv4 and TCP headers, in bytes.
    window, scale : int
        Value of the TCP window field, and the window scale.
    more_in_syn : int
        Additional header bytes of a SYN.
    """

    def __init__(self, topology: Topology) -> None:
        tcp = topology.tcp
        self.beacon_s, self.dtim_period = topology.beacon.interval_s, topology.beacon.dtim_period
        self.beacon_tu = min(max(round(self.beacon_s / 1.024e-3), 1), 65_535)
        self.segment, self.header = tcp.segment_bytes, tcp.header_bytes
        times_larger = min(tcp.window_bytes // _MAX_WINDOW, 1 << 14)
        self.scale = times_larger.bit_length() if tcp.window_bytes > _MAX_WINDOW else 0
        self.window = min(-(-tcp.window_bytes >> self.scale), _MAX_WINDOW)
        option_bytes = tcp.header_bytes - _MIN_HEADER
        self.more_in_syn = max(0, SYN_OPTIONS - option_bytes) if self.scale else 0
        if topology.mac.model == "dcf":
            timing = FrameTiming(topology.mac)
            self.beacon_gap_s, self.beacon_air_s = timing.pifs_s, timing.beacon_s
            self.rate, self.ack_us = round(2 * timing.data_mbps), round(1e6 * timing.answer_s)
            mbps = {"ack": timing.control_mbps, "ps-poll": timing.data_mbps, "beacon": timing.beacon_mbps}
            self.rates = {name: round(2 * rate) for name, rate in mbps.items()}
        else:
            self.beacon_gap_s = self.beacon_air_s = 0.0
            rate = round(2 * topology.wireless.rate_mbps)
            self.rate = rate if 1 <= rate <= 255 else 0
            self.ack_us = min(10 + round(112 / topology.wireless.rate_mbps), 32_767)
            self.rates = {}


def check_capturable(topology: Topology, stations: int) -> None:
    """Reject a topology whose segments do not fit IPv4 and TCP, or too many stations.

    Raises
    ------
    InputError
        If the headers have no valid size, a packet is too large, or there are too many
        stations.
    """
    if stations > MAX_STATIONS:
        raise InputError(f"--capture supports at most {MAX_STATIONS:,} stations, got {stations:,}.")
    tcp = topology.tcp
    if not _MIN_HEADER <= tcp.header_bytes <= _MAX_HEADER or tcp.header_bytes % 4:
        raise InputError(
            f"--capture requires tcp.header_bytes to be a multiple of 4 from {_MIN_HEADER} to {_MAX_HEADER}"
            f" (IPv4 and TCP headers), got {tcp.header_bytes}."
        )
    if tcp.header_bytes + tcp.segment_bytes > _MAX_PACKET:
        raise InputError(
            f"--capture requires tcp.segment_bytes to be at most {_MAX_PACKET - tcp.header_bytes} (IPv4"
            f" packets), got {tcp.segment_bytes}."
        )


_LOADING_S = 1.0
"""Approximate time of a page in seconds, which is short compared with the think time."""

_FRAMES_OF_CONNECTION = 10
"""Frames of a connection besides its data: handshake, requests, FINs and null data frames."""


def capture_bytes(workloads: Sequence[Workload], topology: Topology) -> int:
    """Return the approximate size of a capture, in bytes. Beacons dominate if think times are long.

    The estimate is accurate within a factor of two, unless many segments are retransmitted.
    """
    time_s = max(sum(page.think_s + _LOADING_S for page in workload.pages) for workload in workloads)
    beacons = time_s / topology.beacon.interval_s * (_BEACON_RECORD + len(workloads) // 8)
    return int(beacons + sum(_frames_bytes(workload, topology.tcp.segment_bytes) for workload in workloads))


def _frames_bytes(workload: Workload, segment_bytes: int) -> float:
    pages, messages = workload.pages, workload.messages
    payload = sum(page.total_bytes for page in pages)
    objects = sum(page.objects for page in pages)
    sent = sum(message.bytes + message.reply_bytes for message in messages)
    frames = 1.5 * (payload + sent) / segment_bytes + _FRAMES_OF_CONNECTION * objects + 4 * len(messages)
    return payload + sent + frames * (_DATA_RECORD + _ACK_RECORD)
