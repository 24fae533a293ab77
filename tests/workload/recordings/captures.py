"""Captures written byte by byte, for the tests."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from ipaddress import ip_address

STATION, SERVER = "10.0.0.2", "93.184.216.34"


def packet(
    source: str = STATION, target: str = SERVER, payload: int = 100, protocol: int = 17,
    ports: tuple[int, int] = (1000, 443), sequence: int = 0, flags: int = 0x10, options: bytes = b"",
) -> bytes:  # fmt: skip
    """Return an IP packet with a UDP or TCP header, *options* of whole words, and *payload* bytes."""
    if protocol == 6:
        words = 5 + len(options) // 4
        inner = struct.pack(">HHIIBBHHH", *ports, sequence, 0, words << 4, flags, 0, 0, 0) + options
    else:
        inner = struct.pack(">HHHH", *ports, 8 + payload, 0)
    inner += bytes(payload)
    ends = ip_address(source).packed + ip_address(target).packed
    if len(ends) == 32:
        return struct.pack(">IHBB", 6 << 28, len(inner), protocol, 64) + ends + inner
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(inner), 0, 0, 64, protocol, 0) + ends + inner


def kind_of(ip: bytes) -> bytes:
    """Return the EtherType of an IP packet."""
    return b"\x08\x00" if ip[0] >> 4 == 4 else b"\x86\xdd"


def family_of(ip: bytes) -> bytes:
    """Return the address family of an IP packet as BSD systems number them, big-endian."""
    return bytes([0, 0, 0, 2 if ip[0] >> 4 == 4 else 30])


def ethernet(ip: bytes, tags: Sequence[int] = ()) -> bytes:
    """Return an Ethernet frame, with VLAN tags if any."""
    return bytes(12) + b"".join(struct.pack(">HH", tag, 7) for tag in tags) + kind_of(ip) + ip


def llc(ip: bytes) -> bytes:
    """Return the packet behind an 802.2 LLC and SNAP header."""
    return b"\xaa\xaa\x03\0\0\0" + kind_of(ip) + ip


def wifi(ip: bytes, quality: bool = False, four: bool = False, control: bool = False) -> bytes:
    """Return an 802.11 data frame: with QoS, four addresses, or HT control."""
    flags = (3 if four else 1) | (0x80 if control else 0)
    header = bytes([0x88 if quality else 0x08, flags]) + bytes(22)
    return header + bytes(6 * four + 2 * quality + 4 * (quality and control)) + llc(ip)


def radiotap(frame: bytes, padded_header: int = 0) -> bytes:
    """Return an 802.11 frame behind a radiotap header with a time, flags and a second word of presence.

    *padded_header* is the size of an 802.11 header that is padded to a multiple of 4, as the flags state.
    """
    flags = 0x20 if padded_header else 0
    head = struct.pack("<II", 0x80000003, 0) + bytes(4) + bytes(8) + bytes([flags])
    fill = -padded_header % 4
    frame = frame[:padded_header] + bytes(fill) + frame[padded_header:]
    return struct.pack("<BBH", 0, 0, 4 + len(head)) + head + frame


FRAMES = {
    "Ethernet": (1, ethernet),
    "one VLAN": (1, lambda ip: ethernet(ip, [0x8100])),
    "two VLANs": (1, lambda ip: ethernet(ip, [0x88A8, 0x8100])),
    "802.3": (1, lambda ip: bytes(12) + struct.pack(">H", 8 + len(ip)) + llc(ip)),
    "Linux cooked": (113, lambda ip: bytes(14) + kind_of(ip) + ip),
    "Linux cooked 2": (276, lambda ip: kind_of(ip) + bytes(18) + ip),
    "raw": (101, lambda ip: ip),
    "raw, 12": (12, lambda ip: ip),
    "null, little-endian": (0, lambda ip: family_of(ip)[::-1] + ip),
    "null, big-endian": (0, lambda ip: family_of(ip) + ip),
    "802.11": (105, wifi),
    "802.11 with QoS": (105, lambda ip: wifi(ip, quality=True)),
    "802.11 with four addresses and control": (105, lambda ip: wifi(ip, True, True, True)),
    "radiotap": (127, lambda ip: radiotap(wifi(ip))),
    "radiotap, padded": (127, lambda ip: radiotap(wifi(ip, quality=True), 26)),
}
"""Link type and frame around an IP packet, by name."""


def pcap(
    frames: Sequence[tuple[float, bytes]], link: int = 1, order: str = "<", nano: bool = False, snap: int = 0
) -> bytes:
    """Return a pcap file of frames with times in seconds; *snap* limits the captured bytes, 0: all."""
    unit = 1_000_000_000 if nano else 1_000_000
    data = struct.pack(
        f"{order}IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snap or 262144, link
    )
    for at_s, frame in frames:
        captured = frame[: snap or None]
        seconds, part = divmod(round(at_s * unit), unit)
        data += struct.pack(f"{order}IIII", seconds, part, len(captured), len(frame)) + captured
    return data


def block(kind: int, content: bytes, order: str = "<") -> bytes:
    """Return a pcapng block."""
    content += bytes(-len(content) % 4)
    length = struct.pack(f"{order}I", 12 + len(content))
    return struct.pack(f"{order}I", kind) + length + content + length


def section(order: str = "<") -> bytes:
    """Return a section header."""
    return block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link: int = 1, order: str = "<", resolution: int | None = None, offset_s: int = 0) -> bytes:
    """Return an interface description, with its unit and offset of time, if any."""
    options = b""
    if resolution is not None:
        options += struct.pack(f"{order}HHB3x", 9, 1, resolution)
    if offset_s:
        options += struct.pack(f"{order}HHq", 14, 8, offset_s)
    options += struct.pack(f"{order}HH", 0, 0) if options else b""
    return block(1, struct.pack(f"{order}HHI", link, 0, 262144) + options, order)


def enhanced(frame: bytes, ticks: int, number: int = 0, order: str = "<", length: int | None = None) -> bytes:
    """Return an enhanced packet block; its time is in the unit of its interface."""
    head = (number, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame) if length is None else length)
    return block(6, struct.pack(f"{order}IIIII", *head) + frame, order)
