"""Offsets of the IP packets in frames, by link type.

The link types are LINKTYPE_ of tcpdump.org. The headers are those of IEEE 802.3, 802.1Q, 802.2 (LLC and SNAP)
and of Linux "cooked" captures (LINKTYPE_LINUX_SLL and _SLL2). Of 802.11 frames, only unencrypted data frames
with a body contain an IP packet. See IEEE 802.11-2020, sections 9.2 and 9.3.2, and radiotap.org.
"""

from __future__ import annotations

from collections.abc import Callable

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
