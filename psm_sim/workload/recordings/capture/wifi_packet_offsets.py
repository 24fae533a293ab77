"""Offsets of the IP packets in 802.11 frames, with or without a radiotap header.

Only unencrypted data frames with a body contain an IP packet. See IEEE 802.11-2020, sections 9.2 and 9.3.2,
and radiotap.org.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.capture.frame_batch import ByteArray, Frames, IntArray, u8, u16, u32

_PADDED = 0x20
_SNAP = 0xAAAA03
_MAX_PRESENT = 8


def wifi(frames: Frames) -> IntArray:
    """Return the offset of the IP packet of each 802.11 frame, or -1, shape (n,)."""
    return _body(frames.data, frames.start, np.zeros_like(frames.start, dtype=bool))


def radiotap(frames: Frames) -> IntArray:
    """Return the offset of the IP packet of each 802.11 frame with radiotap header, or -1, shape (n,)."""
    data, start = frames.data, frames.start
    length = u8(data, start + 2) | (u8(data, start + 3) << 8)
    return _body(data, start + length, _flags(data, start) & _PADDED > 0)


def _flags(data: ByteArray, start: IntArray) -> IntArray:
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


def _body(data: ByteArray, at: IntArray, padded: NDArray[np.bool_]) -> IntArray:
    """Return the offset of IP after the 802.11 header at *at*; *padded* headers are padded to 4 bytes."""
    control, flags = u8(data, at), u8(data, at + 1)
    is_data = (control & 0x0F == 0x08) & (control & 0x40 == 0) & (flags & 0x40 == 0)
    is_qos = control & 0x80 > 0
    header = 24 + 6 * (flags & 0x03 == 0x03) + 2 * is_qos + 4 * (is_qos & (flags & 0x80 > 0))
    header = np.where(padded, (header + 3) & ~3, header)
    llc = at + header
    kind = u16(data, llc + 6)
    snap = u32(data, llc) >> 8 == _SNAP
    return np.where(is_data & snap & ((kind == 0x0800) | (kind == 0x86DD)), llc + 8, -1)
