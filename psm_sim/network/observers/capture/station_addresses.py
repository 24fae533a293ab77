"""Hosts of a capture: the addresses of access point, router, stations and servers."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

STATION_IP, SERVER_IP, GROUP_IP = (
    int(IPv4Address(each)) for each in ("10.0.0.2", "198.18.0.1", "10.0.0.255")
)
"""Stations are private, so that the capture is read back as theirs; servers are of RFC 2544's network."""

ACCESS_POINT, ROUTER = (2, 0, 0, 0, 0, 1), (2, 0, 0, 0, 0, 3)
"""MAC addresses, locally administered; the router stands between access point and servers."""

BROADCAST_MAC = (255,) * 6
MAX_STATIONS = 2007
"""Associations of one access point have numbers up to this."""

_IN_A_NETWORK = 250
_FIRST_PORT, _PORTS = 1024, 64_512


@cache
def macs_of(stations: int) -> NDArray[np.uint8]:
    """Return MAC addresses, (1 + stations, 6): the access point's, and behind it those of associations 1, ...

    The first station is 02:00:00:00:00:02, the others have 256 and their association's number at the end.
    """
    found = np.tile(np.array(ACCESS_POINT, np.uint8), (1 + stations, 1))
    last = 256 + np.arange(1 + stations)
    last[:2] = 1, 2
    found[:, 4], found[:, 5] = last >> 8, last & 0xFF
    return found


@cache
def addresses_of(stations: int) -> IntArray:
    """Return the IP addresses of the stations by association, (1 + stations,); none has number 0.

    They are 10.0.0.2 to 10.0.0.251, then 10.0.1.2 and so on.
    """
    place = np.arange(-1, stations)
    return np.asarray(STATION_IP + 256 * (place // _IN_A_NETWORK) + place % _IN_A_NETWORK)


def ends_of(number: IntArray) -> tuple[IntArray, ...]:
    """Return server address, station's port, and first sequence numbers of station and server, each (n,).

    Those of a connection follow from its *number* (n,) among those of its station: no port of a station is
    used twice with the same server.
    """
    server = SERVER_IP + number // _PORTS
    port = _FIRST_PORT + number % _PORTS
    return server, port, _scattered(number, 1), _scattered(number, 2)


def _scattered(number: IntArray, side: int) -> IntArray:
    return ((2 * number + side) * 2_654_435_761) & 0xFFFFFFFF
