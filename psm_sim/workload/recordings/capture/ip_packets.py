"""IP packets in captured frames, with the TCP fields that a driver can observe.

The link types are LINKTYPE_ of tcpdump.org. The headers of IEEE 802.3, 802.1Q and 802.2 (LLC and SNAP) and of
Linux "cooked" captures (LINKTYPE_LINUX_SLL and _SLL2) are supported. Of 802.11 frames, only unencrypted data
frames with a body contain an IP packet. See IEEE 802.11-2020, sections 9.2 and 9.3.2, and radiotap.org.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import error, unpack_from
from typing import NamedTuple

from psm_sim.workload.recordings.capture.capture_files import CapturedFrame

TCP, UDP = 6, 17
"""Protocol numbers of IANA."""
FIN, SYN, RST, ACK = 1, 2, 4, 16
"""Flags of TCP."""


class Packet(NamedTuple):
    """IP packet.

    Attributes
    ----------
    source, target
        Addresses, 4 or 16 bytes each.
    length
        Original size of the packet with its headers, in bytes.
    protocol
        Number of the transport protocol.
    source_port, target_port
        Ports; 0 if the packet has none.
    sequence, payload, flags
        Fields of TCP, 0 for other packets. ``payload`` is the size of the data in bytes.
    mss
        Maximum payload that a SYN allows, 0 if unknown.
    """

    source: bytes
    target: bytes
    length: int
    protocol: int
    source_port: int = 0
    target_port: int = 0
    sequence: int = 0
    payload: int = 0
    flags: int = 0
    mss: int = 0


def packet_of(frame: CapturedFrame) -> Packet | None:
    """Return the IP packet in a frame, or None if the frame has no complete IP header.

    The link type of the frame must be in :data:`LINKS`.
    """
    data = frame.data
    try:
        at = LINKS[frame.link](data)
        version = data[at] >> 4 if at >= 0 else 0
        rest = max(frame.length, len(data)) - at  # a damaged file can declare a length below the captured one
        if version == 4:
            return _version_4(data, at, rest)
        return _version_6(data, at, rest) if version == 6 else None
    except (IndexError, error):  # too little was captured
        return None


_IP = (b"\x08\x00", b"\x86\xdd")
_TAGS = (b"\x81\x00", b"\x88\xa8", b"\x91\x00")
_MAX_802_3 = b"\x05\xdc"


def _after_ethertype(data: bytes, at: int) -> int:
    """Return the offset of the IP header, or -1 if there is none.

    *at* is the offset of the first EtherType, which VLAN tags and an 802.2 header can follow.
    """
    while data[at : at + 2] in _TAGS:
        at += 4
    if data[at : at + 2] <= _MAX_802_3 and data[at + 2 : at + 4] == b"\xaa\xaa":
        at += 8
    return at + 2 if data[at : at + 2] in _IP else -1


def _radiotap(data: bytes) -> int:
    length, present = unpack_from("<HI", data, 2)
    at = 8
    while data[at - 1] & 0x80:  # bit 31 of a presence word: another presence word follows
        at += 4
    # The optional TSFT field of 8 bytes comes first, aligned to 8 bytes from the start of the header.
    at = (at + 7 & ~7) + 8 if present & 1 else at
    return _wifi(data, length, padded=bool(present & 2 and data[at] & 0x20))


def _wifi(data: bytes, at: int = 0, padded: bool = False) -> int:
    """Return the offset of the IP header, or -1 if there is none.

    *at* is the offset of the 802.11 header. If *padded*, the header is padded to a multiple of 4 bytes.
    """
    control, flags = data[at], data[at + 1]
    is_data = control & 0x4F == 0x08 and not flags & 0x40
    qos = control >> 7
    header = 24 + 6 * (flags & 0x03 == 0x03) + 2 * qos + 4 * (qos & flags >> 7)
    llc = at + (header + 3 & ~3 if padded else header)
    is_ip = data[llc : llc + 3] == b"\xaa\xaa\x03" and data[llc + 6 : llc + 8] in _IP
    return llc + 8 if is_data and is_ip else -1


LINKS: dict[int, Callable[[bytes], int]] = {
    1: lambda data: _after_ethertype(data, 12),
    105: _wifi,
    113: lambda data: _after_ethertype(data, 14),
    127: _radiotap,
    276: lambda data: 20 if data[:2] in _IP else -1,
    **dict.fromkeys((12, 14, 101, 228, 229), lambda _: 0),
    # The address family, whose byte order and values depend on the machine, is ignored.
    **dict.fromkeys((0, 108), lambda _: 4),
}
"""Functions that return the offset of the IP header in a frame, by link type."""


def _version_4(data: bytes, at: int, rest: int) -> Packet | None:
    """Return the packet at *at*. The frame had *rest* bytes from there on before it was truncated."""
    first, length, fragment, protocol, source, target = unpack_from(">BxH2xHxB2x4s4s", data, at)
    header = (first & 15) * 4
    # A packet captured before segmentation offload declares a size of 0; it extends to the end of its frame.
    length = length or rest
    if not 20 <= header <= length:
        return None
    packet = Packet(source, target, length, protocol)
    return packet if fragment & 0x1FFF else _with_transport(packet, data, at + header, length - header)


_EXTENSIONS, _FRAGMENT, _AUTHENTICATION = (0, 43, 44, 51, 60), 44, 51  # IANA: IPv6 extension headers


def _version_6(data: bytes, at: int, rest: int) -> Packet:
    payload, protocol, source, target = unpack_from(">4xHBx16s16s", data, at)
    length = payload + 40 if payload else rest
    end, is_first = at + length, True
    at += 40
    while protocol in _EXTENSIONS and at + 4 <= len(data):
        words = 1 if protocol == _FRAGMENT else data[at + 1] + 1
        size = (data[at + 1] + 2) * 4 if protocol == _AUTHENTICATION else words * 8
        is_first &= protocol != _FRAGMENT or unpack_from(">H", data, at + 2)[0] < 8
        protocol, at = data[at], at + size
    packet = Packet(source, target, length, protocol)
    return _with_transport(packet, data, at, end - at) if is_first else packet


def _with_transport(packet: Packet, data: bytes, at: int, size: int) -> Packet:
    """Add ports and TCP fields to a packet, if they were captured.

    The transport header begins at *at*, and *size* bytes are left from there to the end of the packet.
    """
    if packet.protocol not in (TCP, UDP) or at + 4 > len(data):
        return packet
    source_port, target_port = unpack_from(">HH", data, at)
    if packet.protocol == UDP or at + 14 > len(data):
        return packet._replace(source_port=source_port, target_port=target_port)
    sequence, offset, flags = unpack_from(">I4xBB", data, at + 4)
    header = (offset >> 4) * 4
    mss = _mss(data[at + 20 : at + header]) if flags & SYN else 0
    payload = max(size - header, 0)
    return Packet(*packet[:4], source_port, target_port, sequence, payload, flags, mss)


_END_OF_OPTIONS, _NO_OPERATION, _MSS, _TIMESTAMPS = 0, 1, 2, 8  # IANA: kinds of TCP options
_TIMESTAMPS_BYTES = 12  # with two bytes of padding (RFC 7323, appendix A)


def _mss(options: bytes) -> int:
    """Return the MSS in the options of a SYN minus the size of a time stamp option, or 0 without an MSS."""
    mss = timestamps = at = 0
    while at < len(options) and options[at] != _END_OF_OPTIONS:
        kind = options[at]
        if kind == _MSS and at + 4 <= len(options):
            mss = unpack_from(">H", options, at + 2)[0]
        timestamps = _TIMESTAMPS_BYTES if kind == _TIMESTAMPS else timestamps
        length = 1 if kind == _NO_OPERATION or at + 1 == len(options) else max(options[at + 1], 2)
        at += length
    return max(mss - timestamps, 0)
