"""pcap files: micro- or nanoseconds, in either byte order.

Layout: a header of 24 bytes, whose first four tell byte order and unit; then for each frame 16 bytes
(seconds, fraction, bytes kept, bytes that it had) and the bytes kept. Source: draft-ietf-opsawg-pcap.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

import numpy as np

from psm_sim.errors import InputError
from psm_sim.workload.recordings.capture.byte_window import Window
from psm_sim.workload.recordings.capture.frame_batch import MAX_FRAME, MAX_FRAMES, Frames, words

MAGICS = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""First four bytes: byte order, and nanoseconds per unit of the fraction."""

_FILE_HEADER, _HEADER = 24, 16
_LINK = 0xFFFF  # the upper half says whether frames end with a checksum


def pcap_frames(window: Window) -> Iterator[Frames]:
    """Yield the frames of a pcap file, a batch for each piece of it.

    A last frame that is cut short is left out, with a warning of the source.

    Raises
    ------
    InputError
        If the file header is cut short, or a frame claims more bytes than any program keeps.
    """
    if not window.fill(_FILE_HEADER):
        size = len(window.data)
        raise InputError(
            f"{window.source.path} has {size} bytes; expected a pcap header of {_FILE_HEADER} at least."
        )
    order, unit_ns = MAGICS[window.data[:4]]
    link = int.from_bytes(window.data[20:24], "little" if order == "<" else "big") & _LINK
    kept, used = Struct(f"{order}8xI"), _FILE_HEADER
    while True:
        found, after = _places(window.data, used, kept)
        if found:
            yield _batch(window.data, found, (order, unit_ns, link))
        _check_claim(window, after, kept)
        if not window.move(after) and not found:
            break
        used = 0
    if window.data:
        window.source.warnings.append(f"the last packet is cut short at byte {window.base:,} and left out")


def _places(data: bytes, at: int, kept: Struct) -> tuple[list[int], int]:
    """Return where the next complete frames from byte *at* on begin, and the first byte behind them."""
    found, size, size_of = list[int](), len(data), kept.unpack_from
    last = size - _HEADER
    for _ in range(MAX_FRAMES):
        if at > last:
            break
        after = at + _HEADER + size_of(data, at)[0]
        if after > size:
            break
        found.append(at)
        at = after
    return found, at


def _check_claim(window: Window, at: int, kept: Struct) -> None:
    """Refuse an incomplete frame that claims more bytes than any program keeps."""
    claimed = kept.unpack_from(window.data, at)[0] if len(window.data) >= at + _HEADER else 0
    if claimed > MAX_FRAME:
        raise InputError(
            f"{window.source.path}: the packet at byte {window.base + at:,} claims {claimed:,} bytes; "
            f"expected at most {MAX_FRAME:,}, so the file is damaged there."
        )


def _batch(data: bytes, found: list[int], form: tuple[str, int, int]) -> Frames:
    order, unit_ns, link = form
    array, at = np.frombuffer(data, np.uint8), np.array(found, np.int64)
    seconds, fraction, kept, length = words(array, at, 4, order).T
    start = at + _HEADER
    return Frames(link, array, start, start + kept, length, seconds * 1_000_000_000 + fraction * unit_ns)
