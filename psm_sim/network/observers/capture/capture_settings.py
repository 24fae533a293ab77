"""Scene of a capture: the numbers of a topology that stand in headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psm_sim.errors import InputError
from psm_sim.network.frame_timing import FrameTiming
from psm_sim.network.observers.capture.station_addresses import MAX_STATIONS
from psm_sim.network.topology import Topology

SERVER_PORT, DATAGRAM_PORT = 80, 40_000
_MIN_VALUES, _MAX_VALUES = 40, 80
_MAX_PACKET, _MAX_WINDOW = 65_535, 65_535
SYN_OPTIONS = 8
"""Bytes of the options of a SYN: maximum segment size, and window scale."""


@dataclass(frozen=True)
class CaptureSettings:
    """Scene in numbers.

    ``header`` is the bytes of IPv4 and TCP headers, ``more_in_syn`` those by which a SYN's are longer.
    ``rate`` is that of data in half Mbit/s, ``rates`` has those of other frames that differ. A beacon goes
    on the air ``beacon_gap_s`` after it is due, for ``beacon_air_s``; both are 0 s in the plain MAC.
    ``stations`` is how many share the access point.
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
    stations: int


def capture_settings(topology: Topology, stations: int = 1) -> CaptureSettings:
    """Return the scene of a topology and a number of stations; errors as :func:`check_capturable`."""
    check_capturable(topology, stations)
    tcp = topology.tcp
    whole = tcp.window_bytes
    scale = max(0, (min(whole, _MAX_WINDOW << 14) // _MAX_WINDOW).bit_length())
    scale = scale if whole > _MAX_WINDOW else 0
    room = tcp.header_bytes - _MIN_VALUES
    return CaptureSettings(
        beacon_s=topology.beacon.interval_s,
        beacon_tu=min(max(round(topology.beacon.interval_s / 1.024e-3), 1), 65_535),
        dtim_period=topology.beacon.dtim_period,
        **_air(topology),
        segment=tcp.segment_bytes,
        header=tcp.header_bytes,
        window=min(-(-whole >> scale) if scale == 0 else -(-whole // (1 << scale)), _MAX_WINDOW),
        scale=scale,
        more_in_syn=max(0, SYN_OPTIONS - room) if scale else 0,
        stations=stations,
    )


def _air(topology: Topology) -> dict[str, Any]:
    """Return how the frames of a topology are sent, by names of a scene's fields."""
    if topology.mac.model == "dcf":
        timing = FrameTiming(topology.mac)
        mbps = {"ack": timing.control_mbps, "ps-poll": timing.poll_mbps, "beacon": timing.beacon_mbps}
        return {
            "beacon_gap_s": timing.pifs_s, "beacon_air_s": timing.beacon_s,
            "rate": round(2 * timing.data_mbps),
            "rates": {name: round(2 * each) for name, each in mbps.items()},
            "ack_us": round(1e6 * timing.answer_s),
        }  # fmt: skip
    rate_mbps = topology.wireless.rate_mbps
    rate, ack_us = round(2 * rate_mbps), min(10 + round(112 / rate_mbps), 32_767)
    none = {"beacon_gap_s": 0.0, "beacon_air_s": 0.0, "rates": {}}
    return {"rate": rate if 1 <= rate <= 255 else 0, "ack_us": ack_us, **none}


def check_capturable(topology: Topology, stations: int = 1) -> None:
    """Refuse a topology whose segments are no IPv4 and TCP packets, or more stations than have a number.

    Raises
    ------
    InputError
        If the headers are too small or too large, or a packet is, or there are too many stations.
    """
    if stations > MAX_STATIONS:
        raise InputError(
            f"--capture has room for {MAX_STATIONS:,} associations, but there are {stations:,} stations."
        )
    tcp = topology.tcp
    if not _MIN_VALUES <= tcp.header_bytes <= _MAX_VALUES or tcp.header_bytes % 4:
        raise InputError(
            f"--capture needs headers of IPv4 and TCP, but tcp.header_bytes is {tcp.header_bytes}; expected a"
            f" multiple of 4 from {_MIN_VALUES} to {_MAX_VALUES}."
        )
    if tcp.header_bytes + tcp.segment_bytes > _MAX_PACKET:
        raise InputError(
            f"--capture needs IPv4 packets, but tcp.segment_bytes is {tcp.segment_bytes}; expected at most"
            f" {_MAX_PACKET - tcp.header_bytes}."
        )
