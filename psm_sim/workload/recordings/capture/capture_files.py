"""Reader of pcap and pcapng files in either byte order, as batches of frames.

A pcap file has a header of 24 bytes, whose first four bytes encode byte order and time unit. Each frame has a
header of 16 bytes (seconds, fraction, captured length, original length) and its captured bytes. See
draft-ietf-opsawg-pcap.

A pcapng file consists of blocks with type, length, content and the repeated length. A section header block
starts a section and encodes its byte order. An interface description block contains the link type and the
unit and offset of times. Other blocks contain a packet or are ignored. See draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.capture.frame_batch import MAX_FRAME, MAX_FRAMES, Frames, IntArray, u32_rows
from psm_sim.workload.recordings.chunk_reader import ChunkReader

_MIN_BYTES = 1 << 21


class Window:
    """Sliding window over the decompressed bytes of a source.

    Attributes
    ----------
    source
        Reader of the file.
    data
        Bytes that have not been used yet.
    base
        Offset of the first of them in the decompressed file.
    """

    def __init__(self, source: ChunkReader) -> None:
        self.source = source
        self._chunks = source.chunks()
        self.data, self.base = b"", 0

    def move(self, used: int) -> bool:
        """Drop the first *used* bytes and refill the window. Return whether data were added.

        If *used* is 0, at least one chunk is added unless the file has ended, because the next item is longer
        than the window.
        """
        parts = [self.data[used:]]
        size = len(parts[0])
        while size < _MIN_BYTES or (not used and len(parts) == 1):
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            parts.append(chunk)
            size += len(chunk)
        self.data, self.base = b"".join(parts), self.base + used
        return len(parts) > 1

    def fill(self, size: int) -> bool:
        """Refill the window to *size* bytes. Return whether the file has that many."""
        while len(self.data) < size:
            if not self.move(0):
                return False
        return True


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


SECTION = 0x0A0D0D0A
MAGIC = SECTION.to_bytes(4, "big")
_INTERFACE, _PACKET, _SIMPLE, _ENHANCED = 1, 2, 3, 6
_HEADS = {order: Struct(f"{order}II") for order in "<>"}
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_MAX_BLOCK = 16 << 20
_MIN_BLOCK, _MIN_INTERFACE, _PACKET_HEADER = 12, 20, 28


class Pcapng:
    """Reader of a pcapng file, with the state of the current section."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._interfaces: list[Interface] = []
        self._order, self._head = "<", _HEADS["<"]
        self._timeless = 0

    def frames(self) -> Iterator[Frames]:
        """Yield the frames in batches of one section and link type.

        A truncated last block and packets without a time (simple packet blocks) are omitted, with warnings in
        the source.

        Raises
        ------
        InputError
            If a block has an impossible length or a packet an unknown interface.
        """
        window = self._window
        while window.fill(_MIN_BLOCK):
            packet_starts, used = self._scan_blocks(window.data)
            if packet_starts:
                yield from self._batches(window.data, np.array(packet_starts, np.int64))
            if not window.move(used) and not used:
                break
        if window.data:
            window.source.warnings.append(
                f"the last block, at byte {window.base:,}, is truncated and was omitted"
            )
        if self._timeless:
            window.source.warnings.append(f"{self._timeless:,} packets without a time were omitted")

    def _scan_blocks(self, data: bytes) -> tuple[list[int], int]:
        """Process the complete blocks up to the next section.

        Return the offsets of the packet blocks, and the number of bytes processed.
        """
        packet_starts, at, size = list[int](), 0, len(data)
        while at + _MIN_BLOCK <= size and len(packet_starts) < MAX_FRAMES:
            kind, length = self._head.unpack_from(data, at)
            if kind == SECTION:
                if packet_starts:
                    break
                length = self._begin_section(data, at)
            if length < _MIN_BLOCK or length > _MAX_BLOCK or length & 3:
                expected = f"a multiple of 4 from {_MIN_BLOCK} to {_MAX_BLOCK:,}"
                self._raise_damaged(at, f"a block length must be {expected}, got {length:,}")
            if at + length > size:
                break
            if kind in (_ENHANCED, _PACKET):
                packet_starts.append(at)
            else:
                self._handle_block(kind, data[at : at + length])
            at += length
        return packet_starts, at

    def _begin_section(self, data: bytes, at: int) -> int:
        """Set the byte order of a new section and return the length of its header."""
        order = _ORDERS.get(data[at + 8 : at + 12])
        if order is None:
            self._raise_damaged(at, f"invalid byte-order magic {data[at + 8 : at + 12]!r} of a section")
        self._order, self._head, self._interfaces = str(order), _HEADS[str(order)], []
        return int(self._head.unpack_from(data, at)[1])

    def _handle_block(self, kind: int, block: bytes) -> None:
        if kind == _INTERFACE and len(block) >= _MIN_INTERFACE:
            self._interfaces.append(interface_of(block, self._order))
        elif kind == _SIMPLE:
            self._timeless += 1

    def _batches(self, data: bytes, at: IntArray) -> Iterator[Frames]:
        array = np.frombuffer(data, np.uint8)
        short = u32_rows(array, at, 2, self._order)[:, 1] < _PACKET_HEADER + 4
        if short.any():
            self._raise_damaged(int(at[short][0]), "a packet block is shorter than its header")
        kind, length, interface_ids, high, low, captured, original = u32_rows(array, at, 7, self._order).T
        # The obsolete packet block has a 16-bit interface ID, followed by a 16-bit count of dropped packets.
        obsolete_ids = interface_ids & 0xFFFF if self._order == "<" else interface_ids >> 16
        interface_ids = np.where(kind == _PACKET, obsolete_ids, interface_ids)
        if (captured > length - _PACKET_HEADER - 4).any() or (interface_ids >= len(self._interfaces)).any():
            wrong = (captured > length - _PACKET_HEADER - 4) | (interface_ids >= len(self._interfaces))
            problem = "a packet is larger than its block or has an unknown interface"
            self._raise_damaged(int(at[wrong][0]), problem)
        start = at + _PACKET_HEADER
        for number in np.unique(interface_ids).tolist():
            selected, interface = interface_ids == number, self._interfaces[number]
            time_ns = interface.time_ns(high[selected], low[selected])
            selected_start = start[selected]
            yield Frames(
                interface.link,
                array,
                selected_start,
                selected_start + captured[selected],
                original[selected],
                time_ns,
            )

    def _raise_damaged(self, at: int, problem: str) -> None:
        path, offset = self._window.source.path, self._window.base + at
        raise InputError(f"{path}: {problem}, at byte {offset:,}; the file is damaged there.")


_UNIT, _OFFSET = 9, 14
_MICROSECOND = 6
_EXACT = 9_000_000_000  # units per second up to which a product with 1e9 fits 64 bits
_MAX_S = 1 << 33


class Interface(NamedTuple):
    """Interface of a pcapng section.

    Attributes
    ----------
    link
        Link type, LINKTYPE_ of tcpdump.org.
    units
        Time units per second.
    offset_s
        Seconds to add to all times.
    """

    link: int
    units: int
    offset_s: int

    def time_ns(self, high: IntArray, low: IntArray) -> IntArray:
        """Convert times to nanoseconds since 1970, shape (n,).

        *high* and *low* are the upper and lower 32 bits of the times in units. Times after the year 2242 are
        invalid. They are clipped to it, and a later check of the time span rejects them.
        """
        ticks = (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
        units = np.uint64(self.units)
        remainder = ticks % units
        if self.units <= _EXACT:
            part_ns = (remainder * np.uint64(1_000_000_000) // units).astype(np.int64)
        else:
            part_ns = (remainder.astype(np.float64) / self.units * 1e9).astype(np.int64)
        seconds = np.minimum(ticks // units, np.uint64(_MAX_S)).astype(np.int64) + self.offset_s
        return np.asarray(np.clip(seconds, -_MAX_S, _MAX_S) * 1_000_000_000 + part_ns)


def interface_of(block: bytes, order: str) -> Interface:
    """Parse an interface description block. *order* is ``"<"`` or ``">"``."""
    link = Struct(f"{order}H").unpack_from(block, 8)[0]
    units, offset_s = 10**_MICROSECOND, 0
    for code, value in _options(block[16:-4], order):
        if code == _UNIT and value:
            units = _units(value[0])
        elif code == _OFFSET and len(value) == 8:
            offset_s = Struct(f"{order}q").unpack(value)[0]
    return Interface(link, units, max(-_MAX_S, min(offset_s, _MAX_S)))


def _units(code: int) -> int:
    """Return the units per second, a power of 2 if the highest bit of *code* is set, else of 10.

    The exponent is limited so that the result fits 64 bits.
    """
    power = code & 0x7F
    return 1 << min(power, 63) if code & 0x80 else int(10 ** min(power, 19))


def _options(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    head, at = Struct(f"{order}HH"), 0
    while at + 4 <= len(data):
        code, length = head.unpack_from(data, at)
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + ((length + 3) & ~3)
