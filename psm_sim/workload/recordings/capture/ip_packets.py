"""IP packets of a capture in columns, with integer codes of their addresses.

The link types are LINKTYPE_ of tcpdump.org. The headers are those of IEEE 802.3, 802.1Q, 802.2 (LLC and SNAP)
and of Linux "cooked" captures (LINKTYPE_LINUX_SLL and _SLL2). Of 802.11 frames, only unencrypted data frames
with a body contain an IP packet. See IEEE 802.11-2020, sections 9.2 and 9.3.2, and radiotap.org.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.capture.frame_batch import ByteArray, Frames, IntArray, u8, u16, u32

_TAGS = (0x8100, 0x88A8, 0x9100)
_MAX_TAGS = 4
_MAX_802_3 = 1500
_SNAP = 0xAAAA
_PADDED = 0x20
_LLC_SNAP = 0xAAAA03
_MAX_PRESENT = 8


def ip_starts(frames: Frames) -> IntArray:
    """Return the offset of the IP packet of each frame, or -1, shape (n,).

    The offset may be beyond the end of the frame.
    """
    return LINKS[frames.link](frames)


def _ethernet(frames: Frames) -> IntArray:
    return _after_ethertype(frames.data, frames.start + 12)


def _cooked(frames: Frames) -> IntArray:
    return _after_ethertype(frames.data, frames.start + 14)


def _cooked_2(frames: Frames) -> IntArray:
    kind = u16(frames.data, frames.start)
    return np.where(_is_ip(kind), frames.start + 20, -1)


def _raw(frames: Frames) -> IntArray:
    return _by_version(frames.data, frames.start)


def _loopback(frames: Frames) -> IntArray:
    # Ignore the four bytes of the address family, whose byte order and values depend on the machine.
    return _by_version(frames.data, frames.start + 4)


def _by_version(data: ByteArray, at: IntArray) -> IntArray:
    version = u8(data, at) >> 4
    return np.where((version == 4) | (version == 6), at, -1)


def _after_ethertype(data: ByteArray, at: IntArray) -> IntArray:
    """Return the offset of IP after the EtherType at *at*, skipping VLAN tags and 802.2 headers."""
    kind = u16(data, at)
    for _ in range(_MAX_TAGS):
        tagged = (kind == _TAGS[0]) | (kind == _TAGS[1]) | (kind == _TAGS[2])
        if not tagged.any():
            break
        at = at + 4 * tagged
        kind = u16(data, at)
    is_snap = (kind <= _MAX_802_3) & (u16(data, at + 2) == _SNAP)
    at = at + 8 * is_snap
    return np.where(_is_ip(np.where(is_snap, u16(data, at), kind)), at + 2, -1)


def _is_ip(kind: IntArray) -> NDArray[np.bool_]:
    return np.asarray((kind == 0x0800) | (kind == 0x86DD))


def _wifi(frames: Frames) -> IntArray:
    """Return the offset of the IP packet of each 802.11 frame, or -1, shape (n,)."""
    return _after_802_11(frames.data, frames.start, np.zeros_like(frames.start, dtype=bool))


def _radiotap(frames: Frames) -> IntArray:
    """Return the offset of the IP packet of each 802.11 frame with radiotap header, or -1, shape (n,)."""
    data, start = frames.data, frames.start
    length = u8(data, start + 2) | (u8(data, start + 3) << 8)
    return _after_802_11(data, start + length, _radiotap_flags(data, start) & _PADDED > 0)


def _radiotap_flags(data: ByteArray, start: IntArray) -> IntArray:
    """Return the radiotap flags of each frame; 0 if it has none."""
    present, at = u8(data, start + 4), start + 8
    more = u8(data, at - 1) & 0x80 > 0
    for _ in range(_MAX_PRESENT):  # bit 31 of a presence word: another presence word follows
        if not more.any():
            break
        at = at + 4 * more
        more = more & (u8(data, at - 1) & 0x80 > 0)
    # The optional TSFT field of 8 bytes comes first, aligned to 8 bytes from the start of the header.
    timed = present & 1 > 0
    at = np.where(timed, start + ((at - start + 7) & ~7) + 8, at)
    return np.where(present & 2 > 0, u8(data, at), 0)


def _after_802_11(data: ByteArray, at: IntArray, padded: NDArray[np.bool_]) -> IntArray:
    """Return the offset of IP after the 802.11 header at *at*; *padded* headers are padded to 4 bytes."""
    control, flags = u8(data, at), u8(data, at + 1)
    is_data = (control & 0x0F == 0x08) & (control & 0x40 == 0) & (flags & 0x40 == 0)
    is_qos = control & 0x80 > 0
    header = 24 + 6 * (flags & 0x03 == 0x03) + 2 * is_qos + 4 * (is_qos & (flags & 0x80 > 0))
    header = np.where(padded, (header + 3) & ~3, header)
    llc = at + header
    kind = u16(data, llc + 6)
    snap = u32(data, llc) >> 8 == _LLC_SNAP
    return np.where(is_data & snap & ((kind == 0x0800) | (kind == 0x86DD)), llc + 8, -1)


LINKS: dict[int, Callable[[Frames], IntArray]] = {
    0: _loopback,
    1: _ethernet,
    12: _raw,
    14: _raw,
    101: _raw,
    105: _wifi,
    108: _loopback,
    113: _cooked,
    127: _radiotap,
    228: _raw,
    229: _raw,
    276: _cooked_2,
}
"""Function that locates the IP packets, by supported link type."""


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
