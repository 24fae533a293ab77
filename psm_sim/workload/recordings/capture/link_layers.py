"""Link layers: where the IP packet begins in a frame, by the link type of the capture.

Numbers are LINKTYPE_ of tcpdump.org; headers are those of IEEE 802.3, 802.1Q, 802.2 (LLC and SNAP), and of
Linux "cooked" captures (LINKTYPE_LINUX_SLL and _SLL2). 802.11 is in a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.recordings.capture.frame_batch import Bytes, Frames, Wholes, u8, u16
from psm_sim.workload.recordings.capture.wifi_frames import radiotap, wifi

_TAGS = (0x8100, 0x88A8, 0x9100)
_MAX_TAGS = 4
_MAX_802_3 = 1500
_SNAP = 0xAAAA


def ip_begins(frames: Frames) -> Wholes:
    """Return (n,) where the IP packet of each frame begins, or -1; that may be behind the frame's end."""
    return LINKS[frames.link](frames)


def _ethernet(frames: Frames) -> Wholes:
    return _typed(frames.data, frames.start + 12)


def _cooked(frames: Frames) -> Wholes:
    return _typed(frames.data, frames.start + 14)


def _cooked_2(frames: Frames) -> Wholes:
    kind = u16(frames.data, frames.start)
    return np.where(_is_ip(kind), frames.start + 20, -1)


def _raw(frames: Frames) -> Wholes:
    return _by_version(frames.data, frames.start)


def _loopback(frames: Frames) -> Wholes:
    # Four bytes tell the family in the byte order, and with the numbers, of the machine: not relied on.
    return _by_version(frames.data, frames.start + 4)


def _by_version(data: Bytes, at: Wholes) -> Wholes:
    version = u8(data, at) >> 4
    return np.where((version == 4) | (version == 6), at, -1)


def _typed(data: Bytes, at: Wholes) -> Wholes:
    """Return where IP begins behind an EtherType at *at*, VLAN tags and 802.2 headers left out."""
    kind = u16(data, at)
    for _ in range(_MAX_TAGS):
        tagged = (kind == _TAGS[0]) | (kind == _TAGS[1]) | (kind == _TAGS[2])
        if not tagged.any():
            break
        at = at + 4 * tagged
        kind = u16(data, at)
    short = (kind <= _MAX_802_3) & (u16(data, at + 2) == _SNAP)
    at = at + 8 * short
    return np.where(_is_ip(np.where(short, u16(data, at), kind)), at + 2, -1)


def _is_ip(kind: Wholes) -> NDArray[np.bool_]:
    return np.asarray((kind == 0x0800) | (kind == 0x86DD))


LINKS: dict[int, Callable[[Frames], Wholes]] = {
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
"""Link types that are read."""
