"""Frames of a capture: a batch of them in columns, and the bytes at given places of all at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Wholes = NDArray[np.int64]

MAX_FRAME = 1 << 20
"""Bytes kept of one frame; programs that capture keep at most 262,144."""

MAX_FRAMES = 1 << 14
"""Frames of one batch, so that its columns take a few megabytes, however small the frames are."""


class Frames(NamedTuple):
    """Frames of one link type: their bytes in *data*, where each begins and ends there, length and time.

    Attributes
    ----------
    link
        The number of the link type, LINKTYPE_ of tcpdump.org.
    data
        (m,) bytes of the file, some of them theirs.
    start, end
        (n,) index of the first byte kept of each frame, and behind the last one.
    length
        (n,) bytes that the frame had, kept or not.
    time_ns
        (n,) when it was captured, in nanoseconds since 1970.
    """

    link: int
    data: Bytes
    start: Wholes
    end: Wholes
    length: Wholes
    time_ns: Wholes


def u8(data: Bytes, at: Wholes) -> Wholes:
    """Return the bytes at (n,) places; beyond the end the last byte, which the caller must not use."""
    return data.take(at, mode="clip").astype(np.int64)


def u16(data: Bytes, at: Wholes) -> Wholes:
    """Return the 16-bit numbers at (n,) places, in network byte order."""
    return (u8(data, at) << 8) | u8(data, at + 1)


def u32(data: Bytes, at: Wholes) -> Wholes:
    """Return the 32-bit numbers at (n,) places, in network byte order."""
    return (u16(data, at) << 16) | u16(data, at + 2)


def words(data: Bytes, at: Wholes, count: int, order: str) -> Wholes:
    """Return (n, count) 32-bit numbers that stand one after another at (n,) places.

    Parameters
    ----------
    data
        The bytes; all that is asked for must be in them.
    at
        Where each row begins.
    count
        Numbers per row.
    order
        ``"<"`` for little-endian, ``">"`` for big-endian.
    """
    rows = data[at[:, None] + np.arange(4 * count)]
    return np.asarray(rows.view(f"{order}u4"), np.int64)
