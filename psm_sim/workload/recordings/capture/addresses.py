"""Addresses of a capture as numbers: IPv4 as it is, IPv6 by its place in a table."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.capture.frame_batch import Wholes

_IPV6 = 1 << 32
_NOBODY = -1
_MAX_ADDRESSES = 1 << 16
_PRIVATE = [
    (int(each.network_address), int(each.broadcast_address))
    for each in map(
        ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10")
    )
]


class Addresses:
    """Addresses as numbers: an IPv4 address is its 32 bits, an IPv6 address 2^32 and its place in a table.

    The table is bounded; an IPv6 address for which there is no room is nobody's, -1.
    """

    def __init__(self) -> None:
        self._places: dict[bytes, int] = {}
        self._packed: list[bytes] = []

    def number(self, text: str) -> int | None:
        """Return the number of an address; None if the text is none."""
        try:
            address = ip_address(text)
        except ValueError:
            return None
        return int(address) if isinstance(address, IPv4Address) else _IPV6 + self._place(address.packed)

    def numbers(self, rows: NDArray[np.uint8]) -> Wholes:
        """Return the numbers of IPv6 addresses, (n,), given as (n, 16) bytes."""
        halves = np.ascontiguousarray(rows).view(">u8").astype(np.uint64)
        mixed = halves[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ halves[:, 1]
        _, first, inverse = np.unique(mixed, return_index=True, return_inverse=True)
        places = [self._place(rows[index].tobytes()) for index in first.tolist()]
        found = np.array([_IPV6 + place if place >= 0 else _NOBODY for place in places], np.int64)
        return found[inverse]

    def text(self, number: int) -> str:
        """Return an address as it is written."""
        return str(IPv4Address(number) if number < _IPV6 else IPv6Address(self._packed[number - _IPV6]))

    def stations(self, numbers: Wholes) -> NDArray[np.bool_]:
        """Say which addresses can be one host's: (n,), neither nobody's nor a group's."""
        found = (numbers > 0) & (numbers < 0xE0000000)
        for place in self._those_of(numbers):
            found |= (numbers == _IPV6 + place) & (self._packed[place][0] != 0xFF)
        return np.asarray(found)

    def private(self, numbers: Wholes) -> NDArray[np.bool_]:
        """Say which addresses are private, (n,): RFC 1918, 3927, 6598 and 4193, and IPv6 link-local ones."""
        found = np.zeros(numbers.shape, bool)
        for low, high in _PRIVATE:
            found |= (numbers >= low) & (numbers <= high)
        for place in self._those_of(numbers):
            first = int.from_bytes(self._packed[place][:2], "big")
            own = first & 0xFE00 == 0xFC00 or first & 0xFFC0 == 0xFE80
            found |= (numbers == _IPV6 + place) & own
        return found

    def _those_of(self, numbers: Wholes) -> list[int]:
        places: list[int] = (np.unique(numbers[numbers >= _IPV6]) - _IPV6).tolist()
        return places

    def _place(self, packed: bytes) -> int:
        place = self._places.get(packed, -1)
        if place < 0 and len(self._packed) < _MAX_ADDRESSES:
            place = self._places[packed] = len(self._packed)
            self._packed.append(packed)
        return place
