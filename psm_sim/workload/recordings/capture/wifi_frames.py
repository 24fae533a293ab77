"""802.11 frames, with or without a radiotap header: where the IP packet begins.

Only data frames with a body that is not encrypted have one.
Layout: IEEE 802.11-2020, sections 9.2 and 9.3.2; radiotap.org.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.capture.frame_batch import Bytes, Frames, Wholes, u8, u16, u32

_PADDED = 0x20
_SNAP = 0xAAAA03
_MAX_PRESENT = 8


def wifi(frames: Frames) -> Wholes:
    """Return (n,) where the IP packet of each 802.11 frame begins, or -1."""
    return _body(frames.data, frames.start, np.zeros_like(frames.start, dtype=bool))


def radiotap(frames: Frames) -> Wholes:
    """Return (n,) where the IP packet of each 802.11 frame behind a radiotap header begins, or -1."""
    data, start = frames.data, frames.start
    length = u8(data, start + 2) | (u8(data, start + 3) << 8)
    return _body(data, start + length, _flags(data, start) & _PADDED > 0)


def _flags(data: Bytes, start: Wholes) -> Wholes:
    """Return the radiotap flags of each frame, 0 where it has none."""
    present, at = u8(data, start + 4), start + 8
    more = u8(data, at - 1) & 0x80 > 0
    for _ in range(_MAX_PRESENT):  # the highest bit says that another word of what is present follows
        if not more.any():
            break
        at = at + 4 * more
        more = more & (u8(data, at - 1) & 0x80 > 0)
    # A time of 8 bytes comes first if it is there, aligned to 8 from the header's begin.
    timed = present & 1 > 0
    at = np.where(timed, start + ((at - start + 7) & ~7) + 8, at)
    return np.where(present & 2 > 0, u8(data, at), 0)


def _body(data: Bytes, at: Wholes, padded: NDArray[np.bool_]) -> Wholes:
    """Return where IP begins behind an 802.11 header at *at*; *padded* ones are filled up to 4 bytes."""
    control, flags = u8(data, at), u8(data, at + 1)
    is_data = (control & 0x0F == 0x08) & (control & 0x40 == 0) & (flags & 0x40 == 0)
    quality = control & 0x80 > 0
    header = 24 + 6 * (flags & 0x03 == 0x03) + 2 * quality + 4 * (quality & (flags & 0x80 > 0))
    header = np.where(padded, (header + 3) & ~3, header)
    logical = at + header
    kind = u16(data, logical + 6)
    snap = u32(data, logical) >> 8 == _SNAP
    return np.where(is_data & snap & ((kind == 0x0800) | (kind == 0x86DD)), logical + 8, -1)
