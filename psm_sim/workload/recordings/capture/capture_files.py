"""Frames of pcap and pcapng files in either byte order.

A pcap file has a header of 24 bytes, whose first four bytes encode byte order and time unit. Each frame has a
header of 16 bytes (seconds, fraction, captured length, original length) and its captured bytes. See
draft-ietf-opsawg-pcap.

A pcapng file consists of blocks with type, length, content and the repeated length. A section header block
starts a section and encodes its byte order. An interface description block contains the link type and the
unit and offset of times. Other blocks contain a packet or are ignored. See draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct, unpack_from
from typing import NamedTuple

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.chunk_reader import ChunkReader

_MAX_FRAME = 1 << 20  # captured bytes; capture programs store at most 262,144
_SECOND_NS = 1_000_000_000  # ns per s
_MAX_NS = 1 << 62  # later times are clipped, and the check of the time span rejects them


class CapturedFrame(NamedTuple):
    """Frame of a capture.

    ``link`` is its LINKTYPE_ of tcpdump.org, ``time_ns`` the time of capture in nanoseconds since 1970,
    ``length`` the original length in bytes, and ``data`` the captured bytes.
    """

    link: int
    time_ns: int
    length: int
    data: bytes


class ByteStream:
    """Decompressed bytes of a source. ``offset`` is the number of bytes read so far."""

    def __init__(self, source: ChunkReader) -> None:
        self.source, self.offset = source, 0
        self._chunks = source.chunks()
        self._data, self._at = b"", 0

    def read(self, size: int) -> bytes:
        """Return the next *size* bytes, or fewer at the end of the file."""
        while len(self._data) - self._at < size and (chunk := next(self._chunks, None)) is not None:
            self._data, self._at = self._data[self._at :] + chunk, 0
        data = self._data[self._at : self._at + size]
        self._at += len(data)
        self.offset += len(data)
        return data

    def damage(self, problem: str, at: int) -> InputError:
        """Return the error for a *problem* at byte *at*."""
        return InputError(f"{self.source.path}: {problem}, at byte {at:,}; the file is damaged there.")

    def truncation(self, item: str, at: int) -> None:
        """Warn that the last *item*, at byte *at*, is truncated."""
        self.source.warnings.append(f"the last {item}, at byte {at:,}, is truncated and was omitted")


_MAGICS = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""Byte order, and nanoseconds per unit of the fraction, by the first four bytes of a pcap file."""

_SECTION = 0x0A0D0D0A  # section header block of pcapng, the same in both byte orders
_PCAPNG = _SECTION.to_bytes(4, "big")


def capture_format(head: bytes) -> str:
    """Return ``"pcap"`` or ``"pcapng"`` by the first bytes *head* of a file, or an empty string."""
    return "pcap" if head[:4] in _MAGICS else "pcapng" if head[:4] == _PCAPNG else ""


def is_capture(head: bytes) -> bool:
    """Return whether *head*, the start of a file, begins a capture."""
    return capture_format(head) != ""


def frames_of(source: ChunkReader) -> Iterator[CapturedFrame]:
    """Yield the frames of a capture.

    A truncated last frame is omitted, with a warning in ``source.warnings``.

    Raises
    ------
    InputError
        If the file is damaged. The message contains the byte offset.
    """
    read_frames = _pcapng_frames if capture_format(source.head(4)) == "pcapng" else _pcap_frames
    return read_frames(ByteStream(source))


def _pcap_frames(stream: ByteStream) -> Iterator[CapturedFrame]:
    header = stream.read(24)
    if len(header) < 24:
        raise InputError(f"{stream.source.path}: a pcap header must have 24 bytes, got {len(header)} bytes.")
    order, unit_ns = _MAGICS[header[:4]]
    link = unpack_from(f"{order}I", header, 20)[0] & 0xFFFF  # the upper half describes checksums
    fields = Struct(f"{order}4I")
    while head := stream.read(fields.size):
        at, data, captured = stream.offset - len(head), b"", 0
        if len(head) == fields.size:
            seconds, fraction, captured, length = fields.unpack(head)
            if captured > _MAX_FRAME:
                raise stream.damage(f"a packet must have at most {_MAX_FRAME:,} bytes, got {captured:,}", at)
            data = stream.read(captured)
        if len(head) < fields.size or len(data) < captured:
            stream.truncation("packet", at)
            return
        yield CapturedFrame(link, seconds * _SECOND_NS + fraction * unit_ns, length, data)


_INTERFACE, _PACKET, _SIMPLE, _ENHANCED = 1, 2, 3, 6  # block types of pcapng
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_MIN_BLOCK, _MAX_BLOCK = 12, 16 << 20  # size of a type and two lengths; limit of libpcap


def _pcapng_frames(stream: ByteStream) -> Iterator[CapturedFrame]:
    interfaces: list[_Interface] = []
    timeless = 0
    for at, order, block in _blocks(stream):
        (kind,) = unpack_from(f"{order}I", block)
        if kind == _SECTION:
            interfaces = []
        elif kind == _INTERFACE and len(block) >= 20:
            interfaces.append(_Interface.of(block, order))
        elif kind in (_ENHANCED, _PACKET):
            yield _packet(stream, at, block, order, interfaces)
        timeless += kind == _SIMPLE
    if timeless:
        stream.source.warnings.append(f"packets without a time were omitted: {timeless:,}")


def _blocks(stream: ByteStream) -> Iterator[tuple[int, str, bytes]]:
    """Yield the offset of each complete block, the byte order of its section, and its bytes."""
    order = "<"
    while head := stream.read(_MIN_BLOCK):
        at, block, size = stream.offset - len(head), head, _MIN_BLOCK
        if len(head) == _MIN_BLOCK:
            if head[:4] == _PCAPNG:
                if head[8:] not in _ORDERS:
                    raise stream.damage(f"invalid byte-order magic {head[8:]!r} of a section", at)
                order = _ORDERS[head[8:]]
            (size,) = unpack_from(f"{order}I", head, 4)
            if not _MIN_BLOCK <= size <= _MAX_BLOCK or size & 3:
                expected = f"a multiple of 4 from {_MIN_BLOCK} to {_MAX_BLOCK:,}"
                raise stream.damage(f"a block length must be {expected}, got {size:,}", at)
            block += stream.read(size - _MIN_BLOCK)
        if len(block) < size:
            stream.truncation("block", at)
            return
        yield at, order, block


def _packet(
    stream: ByteStream, at: int, block: bytes, order: str, interfaces: list[_Interface]
) -> CapturedFrame:
    """Return the frame of a packet block, which begins at byte *at*."""
    if len(block) < 32:
        raise stream.damage("a packet block is shorter than its header", at)
    # The obsolete packet block has a 16-bit interface ID, followed by a 16-bit count of dropped packets.
    kind, number, obsolete_number, high, low, captured, length = (
        *unpack_from(f"{order}I4xI", block), *unpack_from(f"{order}H2x4I", block, 8)
    )  # fmt: skip
    number = obsolete_number if kind == _PACKET else number
    if captured > len(block) - 32 or number >= len(interfaces):
        raise stream.damage("a packet is larger than its block or has an unknown interface", at)
    interface = interfaces[number]
    ticks = high << 32 | low
    time_ns = ticks * _SECOND_NS // interface.units + interface.offset_s * _SECOND_NS
    return CapturedFrame(
        interface.link, max(-_MAX_NS, min(time_ns, _MAX_NS)), length, block[28 : 28 + captured]
    )


_UNIT, _OFFSET = 9, 14  # options if_tsresol and if_tsoffset of pcapng


class _Interface(NamedTuple):
    """Link type of an interface, its time units per second, and the seconds to add to its times."""

    link: int
    units: int
    offset_s: int

    @classmethod
    def of(cls, block: bytes, order: str) -> _Interface:
        """Parse an interface description block."""
        options = dict(_options(block[16:-4], order))
        code = options.get(_UNIT, b"\x06")[:1] or b"\x06"
        power = code[0] & 0x7F
        offset = options.get(_OFFSET, b"")
        offset_s = unpack_from(f"{order}q", offset)[0] if len(offset) == 8 else 0
        return cls(unpack_from(f"{order}H", block, 8)[0], (2 if code[0] & 0x80 else 10) ** power, offset_s)


def _options(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        code, length = unpack_from(f"{order}HH", data, at)
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + (length + 3 & ~3)
