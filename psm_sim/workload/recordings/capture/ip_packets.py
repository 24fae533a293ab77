"""IP packets of a capture in columns, with integer codes of their addresses."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.capture.frame_batch import ByteArray, Frames, IntArray, u8, u16, u32

ROW = np.dtype(
    [
        ("time_ns", np.int64),
        ("source", np.int64),
        ("target", np.int64),
        ("length", np.uint32),
        ("protocol", np.uint8),
        ("flags", np.uint8),
        ("source_port", np.uint16),
        ("target_port", np.uint16),
        ("sequence", np.uint32),
        ("payload", np.uint32),
        ("mss", np.uint16),
    ]
)
"""Packet. ``length`` is the original size of the IP packet with its headers. ``flags``, ``sequence`` and
``payload`` (size in bytes) are those of TCP. ``mss`` is the maximum payload that a SYN allows, 0 if unknown.
Ports are 0 if the packet has none."""

TCP, UDP = 6, 17
FIN, SYN, RST, ACK = 1, 2, 4, 16
"""Flags of TCP."""
_END_OF_OPTIONS, _NO_OPERATION, _MSS, _TIMESTAMPS = 0, 1, 2, 8
_MAX_OPTIONS = 40
_TIMESTAMPS_BYTES = 12
_EXTENSIONS = (0, 43, 44, 51, 60)
_FRAGMENT, _AUTHENTICATION = 44, 51
_MAX_EXTENSIONS = 6


def packets_of(frames: Frames, ip_start: IntArray, addresses: AddressCodes) -> NDArray[np.void]:
    """Return the IP packets of frames, as rows of :data:`ROW`.

    Frames without a complete IP header are omitted.

    Parameters
    ----------
    frames
        Batch of n frames.
    ip_start
        Offset of the IP packet of each frame, or -1, shape (n,).
    addresses
        Mapping of addresses to codes.
    """
    version = np.where(ip_start >= 0, u8(frames.data, ip_start) >> 4, 0)
    indices_4, rows = _version_4(frames, ip_start, version == 4)
    if not (version == 6).any():
        return rows
    indices_6, rows_6 = _version_6(frames, ip_start, version == 6, addresses)
    order = np.argsort(np.concatenate([indices_4, indices_6]), kind="stable")
    return np.concatenate([rows, rows_6])[order]


def _version_4(
    frames: Frames, ip_start: IntArray, selected: NDArray[np.bool_]
) -> tuple[IntArray, NDArray[np.void]]:
    data = frames.data
    indices = np.flatnonzero(selected & (ip_start + 20 <= frames.end))
    at, rows = ip_start[indices], np.zeros(indices.size, ROW)
    header = (u8(data, at) & 15) * 4
    size = _size(frames, indices, at, u16(data, at + 2))
    rows["source"], rows["target"] = u32(data, at + 12), u32(data, at + 16)
    protocol = u8(data, at + 9)
    is_first = u16(data, at + 6) & 0x1FFF == 0  # only the first fragment has ports
    _transport(frames, indices, rows, (at, at + header, size, np.where(is_first, protocol, 0)))
    rows["protocol"] = protocol
    is_valid = (header >= 20) & (size >= header)
    return indices[is_valid], rows[is_valid]


def _version_6(
    frames: Frames, ip_start: IntArray, selected: NDArray[np.bool_], addresses: AddressCodes
) -> tuple[IntArray, NDArray[np.void]]:
    data = frames.data
    indices = np.flatnonzero(selected & (ip_start + 40 <= frames.end))
    at, rows = ip_start[indices], np.zeros(indices.size, ROW)
    payload = u16(data, at + 4)
    size = _size(frames, indices, at, np.where(payload > 0, payload + 40, 0))
    hosts = data[at[:, None] + np.arange(8, 40)]
    rows["source"], rows["target"] = addresses.numbers(hosts[:, :16]), addresses.numbers(hosts[:, 16:])
    transport_at, protocol, is_first = _extensions(data, at)
    _transport(frames, indices, rows, (at, transport_at, size, np.where(is_first, protocol, 0)))
    rows["protocol"] = protocol
    return indices, rows


def _size(frames: Frames, indices: IntArray, at: IntArray, declared: IntArray) -> IntArray:
    """Return the sizes of packets.

    A packet captured before segmentation offload declares a size of 0; it extends to the end of its frame.
    """
    remaining = frames.length[indices] - (at - frames.start[indices])
    return np.where(declared > 0, declared, np.maximum(remaining, 0))


def _extensions(data: ByteArray, at: IntArray) -> tuple[IntArray, IntArray, NDArray[np.bool_]]:
    """Return the offset of the transport header, its protocol, and whether it exists (first fragment)."""
    protocol, transport_at, is_first = u8(data, at + 6), at + 40, np.ones(at.size, bool)
    for _ in range(_MAX_EXTENSIONS):
        more = np.isin(protocol, _EXTENSIONS)
        if not more.any():
            break
        length = np.where(protocol == _FRAGMENT, 8, (u8(data, transport_at + 1) + 1) * 8)
        length = np.where(protocol == _AUTHENTICATION, (u8(data, transport_at + 1) + 2) * 4, length)
        is_first &= ~((protocol == _FRAGMENT) & (u16(data, transport_at + 2) >> 3 > 0))
        protocol, transport_at = (
            np.where(more, u8(data, transport_at), protocol),
            transport_at + np.where(more, length, 0),
        )
    return transport_at, protocol, is_first


def _transport(
    frames: Frames,
    indices: IntArray,
    rows: NDArray[np.void],
    offsets: tuple[IntArray, IntArray, IntArray, IntArray],
) -> None:
    """Fill in the ports and the TCP fields if enough of the header was captured."""
    data, end = frames.data, frames.end[indices]
    at, transport_at, size, protocol = offsets
    has_ports = ((protocol == TCP) | (protocol == UDP)) & (transport_at + 4 <= end)
    is_tcp = (protocol == TCP) & (transport_at + 14 <= end)
    rows["time_ns"], rows["length"] = frames.time_ns[indices], size
    rows["source_port"] = np.where(has_ports, u16(data, transport_at), 0)
    rows["target_port"] = np.where(has_ports, u16(data, transport_at + 2), 0)
    rows["sequence"] = np.where(is_tcp, u32(data, transport_at + 4), 0)
    rows["flags"] = np.where(is_tcp, u8(data, transport_at + 13), 0)
    content = at + size - transport_at - (u8(data, transport_at + 12) >> 4) * 4
    rows["payload"] = np.where(is_tcp, np.maximum(content, 0), 0)
    syns = np.flatnonzero(is_tcp & (rows["flags"] & SYN > 0))
    header_end = transport_at[syns] + (u8(data, transport_at[syns] + 12) >> 4) * 4
    rows["mss"][syns] = _mss(data, transport_at[syns] + 20, np.minimum(header_end, end[syns]))


def _mss(data: ByteArray, at: IntArray, end: IntArray) -> IntArray:
    """Return the maximum payload that SYNs allow, shape (n,): their MSS without the time stamps, or 0.

    *at* and *end* limit their options, shape (n,) each.
    """
    mss, timestamps = np.zeros_like(at), np.zeros_like(at)
    for _ in range(_MAX_OPTIONS):
        kind = np.where(at < end, u8(data, at), _END_OF_OPTIONS)
        if not kind.any():
            break
        mss = np.where((kind == _MSS) & (at + 4 <= end), u16(data, at + 2), mss)
        timestamps = np.where(kind == _TIMESTAMPS, _TIMESTAMPS_BYTES, timestamps)
        length = np.where(kind == _NO_OPERATION, 1, np.maximum(u8(data, at + 1), 2))
        at = np.where(kind == _END_OF_OPTIONS, end, at + length)
    return np.asarray(np.maximum(mss - timestamps, 0))


_IPV6 = 1 << 32
_NO_ADDRESS = -1
_MAX_ADDRESSES = 1 << 16
_PRIVATE = tuple(
    map(
        ip_network,
        (
            "10.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "169.254.0.0/16",
            "100.64.0.0/10",
            "fc00::/7",
            "fe80::/10",
        ),
    )
)
"""Private networks (RFC 1918, 3927, 6598 and 4193), and link-local IPv6 addresses."""
_RESERVED = ip_network("240.0.0.0/4")


def is_host(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address can belong to a host."""
    return not (address.is_multicast or address.is_unspecified or address in _RESERVED)


def is_private(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is private."""
    return any(address in network for network in _PRIVATE)


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

    def address(self, number: int) -> IPv4Address | IPv6Address:
        """Return the address with a code."""
        return IPv4Address(number) if number < _IPV6 else IPv6Address(self._packed[number - _IPV6])

    def _index(self, packed: bytes) -> int:
        index = self._indices.get(packed, -1)
        if index < 0 and len(self._packed) < _MAX_ADDRESSES:
            index = self._indices[packed] = len(self._packed)
            self._packed.append(packed)
        return index
