"""Integer codes of the IP addresses in a capture."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.capture.frame_batch import IntArray

_IPV6 = 1 << 32
_NO_ADDRESS = -1
_MAX_ADDRESSES = 1 << 16
_PRIVATE = [
    (int(network.network_address), int(network.broadcast_address))
    for network in map(
        ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10")
    )
]


class AddressCodes:
    """Mapping between IP addresses and integer codes.

    The code of an IPv4 address is its 32-bit value. The code of an IPv6 address is 2^32 plus its index in a
    table. The table is bounded. IPv6 addresses beyond its limit have the code -1.
    """

    def __init__(self) -> None:
        self._indices: dict[bytes, int] = {}
        self._packed: list[bytes] = []

    def number(self, text: str) -> int | None:
        """Return the code of an address; None if *text* is not an address."""
        try:
            address = ip_address(text)
        except ValueError:
            return None
        return int(address) if isinstance(address, IPv4Address) else _IPV6 + self._index(address.packed)

    def numbers(self, rows: NDArray[np.uint8]) -> IntArray:
        """Return the codes of IPv6 addresses, shape (n,). *rows* are their bytes, shape (n, 16)."""
        halves = np.ascontiguousarray(rows).view(">u8").astype(np.uint64)
        mixed = halves[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ halves[:, 1]
        _, prefix, inverse = np.unique(mixed, return_index=True, return_inverse=True)
        indices = [self._index(rows[row].tobytes()) for row in prefix.tolist()]
        mask = np.array([_IPV6 + index if index >= 0 else _NO_ADDRESS for index in indices], np.int64)
        return mask[inverse]

    def text(self, number: int) -> str:
        """Return the text form of an address."""
        return str(IPv4Address(number) if number < _IPV6 else IPv6Address(self._packed[number - _IPV6]))

    def stations(self, numbers: IntArray) -> NDArray[np.bool_]:
        """Return whether each address can belong to a host, shape (n,); excludes -1 and group addresses."""
        mask = (numbers > 0) & (numbers < 0xE0000000)
        for index in self._ipv6_indices(numbers):
            mask |= (numbers == _IPV6 + index) & (self._packed[index][0] != 0xFF)
        return np.asarray(mask)

    def private(self, numbers: IntArray) -> NDArray[np.bool_]:
        """Return whether each address is private, shape (n,).

        Private addresses are those of RFC 1918, 3927, 6598 and 4193, and link-local IPv6 addresses.
        """
        mask = np.zeros(numbers.shape, bool)
        for low, high in _PRIVATE:
            mask |= (numbers >= low) & (numbers <= high)
        for index in self._ipv6_indices(numbers):
            prefix = int.from_bytes(self._packed[index][:2], "big")
            is_private = prefix & 0xFE00 == 0xFC00 or prefix & 0xFFC0 == 0xFE80
            mask |= (numbers == _IPV6 + index) & is_private
        return mask

    def _ipv6_indices(self, numbers: IntArray) -> list[int]:
        indices: list[int] = (np.unique(numbers[numbers >= _IPV6]) - _IPV6).tolist()
        return indices

    def _index(self, packed: bytes) -> int:
        index = self._indices.get(packed, -1)
        if index < 0 and len(self._packed) < _MAX_ADDRESSES:
            index = self._indices[packed] = len(self._packed)
            self._packed.append(packed)
        return index
