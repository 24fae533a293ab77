"""Offsets of the IP packets in frames, by link type.

The link types are LINKTYPE_ of tcpdump.org. The headers are those of IEEE 802.3, 802.1Q, 802.2 (LLC and SNAP)
and of Linux "cooked" captures (LINKTYPE_LINUX_SLL and _SLL2). A separate module handles 802.11.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.capture.frame_batch import ByteArray, Frames, IntArray, u8, u16
from psm_sim.workload.recordings.capture.wifi_packet_offsets import radiotap, wifi

_TAGS = (0x8100, 0x88A8, 0x9100)
_MAX_TAGS = 4
_MAX_802_3 = 1500
_SNAP = 0xAAAA


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


LINKS: dict[int, Callable[[Frames], IntArray]] = {
    0: _loopback,
    1: _ethernet,
    12: _raw,
    14: _raw,
    101: _raw,
    105: wifi,
    108: _loopback,
    113: _cooked,
    127: radiotap,
    228: _raw,
    229: _raw,
    276: _cooked_2,
}
"""Function that locates the IP packets, by supported link type."""
