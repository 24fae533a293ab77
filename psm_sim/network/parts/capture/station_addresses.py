"""MAC and IP addresses of the access point, router, stations and servers in a capture."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

STATION_IP, SERVER_IP, GROUP_IP = (
    int(IPv4Address(address)) for address in ("10.0.0.2", "198.18.0.1", "10.0.0.255")
)
"""IPv4 addresses of the first station, the first server and the group.

Stations have private addresses, so that a capture is read back as theirs. Servers are in the
benchmarking network of RFC 2544.
"""

ACCESS_POINT, ROUTER = (2, 0, 0, 0, 0, 1), (2, 0, 0, 0, 0, 3)
"""Locally administered MAC addresses. The router is between the access point and the servers."""

BROADCAST_MAC = (255,) * 6
MAX_STATIONS = 2007
"""Largest association number of an access point."""

_STATIONS_PER_NETWORK = 250
_FIRST_PORT, _PORTS = 1024, 64_512


@cache
def macs_of(stations: int) -> NDArray[np.uint8]:
    """Return the MAC addresses of the access point and of associations 1, 2, ..., shape (1 + stations, 6).

    The first station is 02:00:00:00:00:02. The addresses of the others end with 256 plus the number of
    their association.
    """
    macs = np.tile(np.array(ACCESS_POINT, np.uint8), (1 + stations, 1))
    last = 256 + np.arange(1 + stations)
    last[:2] = 1, 2
    macs[:, 4], macs[:, 5] = last >> 8, last & 0xFF
    return macs


@cache
def addresses_of(stations: int) -> IntArray:
    """Return the IP addresses of the stations by association, shape (1 + stations,). Index 0 is unused.

    They are 10.0.0.2 to 10.0.0.251, then 10.0.1.2 and so on.
    """
    index = np.arange(-1, stations)
    return np.asarray(STATION_IP + 256 * (index // _STATIONS_PER_NETWORK) + index % _STATIONS_PER_NETWORK)


def ends_of(number: IntArray) -> tuple[IntArray, ...]:
    """Return server address, station port, and initial sequence numbers of both ends, each of shape (n,).

    They follow from the *number* of each connection among those of its station, shape (n,). A station
    never uses a port twice with the same server.
    """
    server = SERVER_IP + number // _PORTS
    port = _FIRST_PORT + number % _PORTS
    return server, port, _initial_sequence(number, 1), _initial_sequence(number, 2)


def _initial_sequence(number: IntArray, side: int) -> IntArray:
    return ((2 * number + side) * 2_654_435_761) & 0xFFFFFFFF
