"""Scene of a capture: addresses, and the numbers of a topology that stand in headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.errors import InputError
from psm_sim.network.air_timing import Timing
from psm_sim.network.topology import Topology

STATION_IP, SERVER_IP, GROUP_IP = (
    int(IPv4Address(each)) for each in ("10.0.0.2", "198.18.0.1", "10.0.0.255")
)
"""The station is private, so that the capture is read back as its own; servers are of RFC 2544's network."""

ACCESS_POINT, STATION, ROUTER = ((2, 0, 0, 0, 0, last) for last in (1, 2, 3))
"""MAC addresses, locally administered; the router stands between access point and servers."""

EVERYBODY = (255,) * 6
SERVER_PORT, DATAGRAM_PORT = 80, 40_000
_FIRST_PORT, _PORTS = 1024, 64_512
_LEAST, _MOST = 40, 80
_LARGEST_PACKET, _LARGEST_WINDOW = 65_535, 65_535
SYN_OPTIONS = 8
"""Bytes of the options of a SYN: maximum segment size, and window scale."""


@dataclass(frozen=True)
class Scene:
    """Scene in numbers.

    ``header`` is the bytes of IPv4 and TCP headers, ``more_in_syn`` those by which a SYN's are longer.
    ``rate`` is that of data in half Mbit/s, ``rates`` has those of other frames that differ. A beacon goes
    on the air ``beacon_gap_s`` after it is due, for ``beacon_air_s``; both are 0 s in the plain MAC.
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


def scene_of(topology: Topology) -> Scene:
    """Return the scene of a topology; errors as :func:`check_capturable`."""
    check_capturable(topology)
    tcp = topology.tcp
    whole = tcp.max_window * tcp.segment_bytes
    scale = max(0, (min(whole, _LARGEST_WINDOW << 14) // _LARGEST_WINDOW).bit_length())
    scale = scale if whole > _LARGEST_WINDOW else 0
    room = tcp.header_bytes - _LEAST
    return Scene(
        beacon_s=topology.beacon.interval_s,
        beacon_tu=min(max(round(topology.beacon.interval_s / 1.024e-3), 1), 65_535),
        dtim_period=topology.beacon.dtim_period,
        **_air(topology),
        segment=tcp.segment_bytes,
        header=tcp.header_bytes,
        window=min(-(-whole >> scale) if scale == 0 else -(-whole // (1 << scale)), _LARGEST_WINDOW),
        scale=scale,
        more_in_syn=max(0, SYN_OPTIONS - room) if scale else 0,
    )


def _air(topology: Topology) -> dict[str, Any]:
    """Return how the frames of a topology are sent, by names of a scene's fields."""
    if topology.mac.model == "dcf":
        timing = Timing(topology.mac)
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


def check_capturable(topology: Topology) -> None:
    """Refuse a topology whose segments are no IPv4 and TCP packets.

    Raises
    ------
    InputError
        If the headers are too small or too large, or a packet is.
    """
    tcp = topology.tcp
    if not _LEAST <= tcp.header_bytes <= _MOST or tcp.header_bytes % 4:
        raise InputError(
            f"--capture needs headers of IPv4 and TCP, but tcp.header_bytes is {tcp.header_bytes}; expected a"
            f" multiple of 4 from {_LEAST} to {_MOST}."
        )
    if tcp.header_bytes + tcp.segment_bytes > _LARGEST_PACKET:
        raise InputError(
            f"--capture needs IPv4 packets, but tcp.segment_bytes is {tcp.segment_bytes}; expected at most"
            f" {_LARGEST_PACKET - tcp.header_bytes}."
        )


def ends_of(number: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Return server address, station's port, and first sequence numbers of station and server, each (n,).

    Those of a connection follow from its *number* (n,): no port is used twice with the same server.
    """
    server = SERVER_IP + number // _PORTS
    port = _FIRST_PORT + number % _PORTS
    return server, port, _scattered(number, 1), _scattered(number, 2)


def _scattered(number: NDArray[np.int64], side: int) -> NDArray[np.int64]:
    return ((2 * number + side) * 2_654_435_761) & 0xFFFFFFFF
