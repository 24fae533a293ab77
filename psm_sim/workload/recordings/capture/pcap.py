"""Reader of pcap files with microseconds or nanoseconds, in either byte order.

A file has a header of 24 bytes, whose first four bytes encode byte order and time unit. Each frame has a
header of 16 bytes (seconds, fraction, captured length, original length) and its captured bytes. See
draft-ietf-opsawg-pcap.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.capture.byte_window import Window
from psm_sim.workload.recordings.capture.frame_batch import MAX_FRAME, MAX_FRAMES, Frames, u32_rows

MAGICS = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""Byte order, and nanoseconds per unit of the fraction, by the first four bytes of the file."""

_FILE_HEADER, _HEADER = 24, 16
_LINK = 0xFFFF  # the upper half encodes whether frames end with a checksum


def pcap_frames(window: Window) -> Iterator[Frames]:
    """Yield the frames of a pcap file in batches.

    A truncated last frame is omitted, with a warning in ``window.source.warnings``.

    Raises
    ------
    InputError
        If the file header is truncated, or if a frame claims more bytes than capture programs store.
    """
    if not window.fill(_FILE_HEADER):
        size = len(window.data)
        raise InputError(
            f"{window.source.path}: a pcap header must have {_FILE_HEADER} bytes, got {size} bytes."
        )
    order, unit_ns = MAGICS[window.data[:4]]
    link = int.from_bytes(window.data[20:24], "little" if order == "<" else "big") & _LINK
    captured_size, position = Struct(f"{order}8xI"), _FILE_HEADER
    while True:
        starts, end = _frame_starts(window.data, position, captured_size)
        if starts:
            yield _batch(window.data, starts, (order, unit_ns, link))
        _check_claim(window, end, captured_size)
        if not window.move(end) and not starts:
            break
        position = 0
    if window.data:
        window.source.warnings.append(
            f"the last packet, at byte {window.base:,}, is truncated and was omitted"
        )


def _frame_starts(data: bytes, at: int, captured_size: Struct) -> tuple[list[int], int]:
    """Return the offsets of the complete frames from byte *at* on, and the end of the last one.

    Parameters
    ----------
    data
        Bytes of the window.
    at
        Offset of the first frame.
    captured_size
        Reader of the captured length in a frame header.
    """
    starts, size, size_of = list[int](), len(data), captured_size.unpack_from
    last = size - _HEADER
    for _ in range(MAX_FRAMES):
        if at > last:
            break
        end = at + _HEADER + size_of(data, at)[0]
        if end > size:
            break
        starts.append(at)
        at = end
    return starts, at


def _check_claim(window: Window, at: int, captured_size: Struct) -> None:
    """Raise an error if an incomplete frame claims more bytes than capture programs store."""
    claimed = captured_size.unpack_from(window.data, at)[0] if len(window.data) >= at + _HEADER else 0
    if claimed > MAX_FRAME:
        raise InputError(
            f"{window.source.path}: the packet at byte {window.base + at:,} must have at most {MAX_FRAME:,} "
            f"bytes, got {claimed:,}; the file is damaged there."
        )


def _batch(data: bytes, starts: list[int], file_format: tuple[str, int, int]) -> Frames:
    order, unit_ns, link = file_format
    array, at = np.frombuffer(data, np.uint8), np.array(starts, np.int64)
    seconds, fraction, captured_size, length = u32_rows(array, at, 4, order).T
    start = at + _HEADER
    return Frames(
        link, array, start, start + captured_size, length, seconds * 1_000_000_000 + fraction * unit_ns
    )
