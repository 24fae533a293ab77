"""Batches of captured frames in columns, and vectorised access to their bytes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ByteArray = NDArray[np.uint8]
IntArray = NDArray[np.int64]

MAX_FRAME = 1 << 20
"""Maximum number of captured bytes of a frame; capture programs store at most 262,144."""

MAX_FRAMES = 1 << 14
"""Maximum number of frames in a batch, which limits its columns to a few megabytes."""


class Frames(NamedTuple):
    """Batch of n frames of one link type.

    Attributes
    ----------
    link : int
        Link type, LINKTYPE_ of tcpdump.org.
    data : ndarray, shape (m,)
        Bytes of the file, including those of the frames.
    start, end : ndarray, shape (n,)
        Range of the captured bytes of each frame in *data*.
    length : ndarray, shape (n,)
        Original length of each frame in bytes.
    time_ns : ndarray, shape (n,)
        Capture time in nanoseconds since 1970.
    """

    link: int
    data: ByteArray
    start: IntArray
    end: IntArray
    length: IntArray
    time_ns: IntArray


def u8(data: ByteArray, at: IntArray) -> IntArray:
    """Return the bytes at offsets *at*, shape (n,). Offsets beyond the end return an unspecified byte."""
    return data.take(at, mode="clip").astype(np.int64)


def u16(data: ByteArray, at: IntArray) -> IntArray:
    """Return the 16-bit integers at offsets *at*, shape (n,), in network byte order."""
    return (u8(data, at) << 8) | u8(data, at + 1)


def u32(data: ByteArray, at: IntArray) -> IntArray:
    """Return the 32-bit integers at offsets *at*, shape (n,), in network byte order."""
    return (u16(data, at) << 16) | u16(data, at + 2)


def u32_rows(data: ByteArray, at: IntArray, count: int, order: str) -> IntArray:
    """Return rows of consecutive 32-bit integers, shape (n, count).

    Parameters
    ----------
    data
        Bytes, which must contain all rows.
    at
        Offset of each row, shape (n,).
    count
        Integers per row.
    order
        ``"<"`` for little-endian, ``">"`` for big-endian.
    """
    rows = data[at[:, None] + np.arange(4 * count)]
    return np.asarray(rows.view(f"{order}u4"), np.int64)
