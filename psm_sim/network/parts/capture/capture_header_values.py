"""Header values of a capture, the check that a topology can be captured, and an estimate of the file size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class CaptureHeaderValues:
    """Values of header fields that follow from the topology.

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
    rates : mapping of str to int
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

    beacon_s: float
    beacon_tu: int
    dtim_period: int
    beacon_gap_s: float
    beacon_air_s: float
    rate: int
    rates: Mapping[str, int]
    ack_us: int
    segment: int
    header: int
    window: int
    scale: int
    more_in_syn: int


def capture_header_values(topology: Topology) -> CaptureHeaderValues:
    """Return the header values of a topology that can be captured, see :func:`check_capturable`."""
    tcp = topology.tcp
    window_bytes = tcp.window_bytes
    times_larger = min(window_bytes // _MAX_WINDOW, 1 << 14)
    scale = times_larger.bit_length() if window_bytes > _MAX_WINDOW else 0
    option_bytes = tcp.header_bytes - _MIN_HEADER
    return CaptureHeaderValues(
        beacon_s=topology.beacon.interval_s,
        beacon_tu=min(max(round(topology.beacon.interval_s / 1.024e-3), 1), 65_535),
        dtim_period=topology.beacon.dtim_period,
        **_mac_settings(topology),
        segment=tcp.segment_bytes,
        header=tcp.header_bytes,
        window=min(-(-window_bytes >> scale), _MAX_WINDOW),
        scale=scale,
        more_in_syn=max(0, SYN_OPTIONS - option_bytes) if scale else 0,
    )


def _mac_settings(topology: Topology) -> dict[str, Any]:
    """Return the fields of :class:`CaptureHeaderValues` that depend on the MAC model."""
    if topology.mac.model == "dcf":
        timing = FrameTiming(topology.mac)
        mbps = {"ack": timing.control_mbps, "ps-poll": timing.data_mbps, "beacon": timing.beacon_mbps}
        return {
            "beacon_gap_s": timing.pifs_s, "beacon_air_s": timing.beacon_s,
            "rate": round(2 * timing.data_mbps),
            "rates": {name: round(2 * rate) for name, rate in mbps.items()},
            "ack_us": round(1e6 * timing.answer_s),
        }  # fmt: skip
    rate_mbps = topology.wireless.rate_mbps
    rate, ack_us = round(2 * rate_mbps), min(10 + round(112 / rate_mbps), 32_767)
    defaults = {"beacon_gap_s": 0.0, "beacon_air_s": 0.0, "rates": {}}
    return {"rate": rate if 1 <= rate <= 255 else 0, "ack_us": ack_us, **defaults}


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
