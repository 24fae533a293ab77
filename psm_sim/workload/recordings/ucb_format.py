"""Binary and text formats of the UCB Home IP trace, with its records, its reader and its writer.

A binary record has a header of 60 bytes, as in the archive's ``logparse.h``, and a request line,
``METHOD HASH.[flags][suffix][ HTTP/1.0]``, which is anonymised. The text format is that of the archive's
``showtrace``. All numbers are unsigned. A number with all bits set is undefined.

Only finding the start of each record needs a Python loop, because it depends on the length of the previous
record. Everything else uses NumPy. Memory is bounded by the chunk size, for a file of any length.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.formatting import truncate
from psm_sim.common.output_files import atomic_write_gzip
from psm_sim.workload.recordings.chunk_reader import ChunkReader, lines_of

METHODS = (b"GET ", b"HEAD ", b"POST ", b"PUT ")
HEADER = struct.Struct(">6I I H I H B B 5I H")
SIZE = HEADER.size
FIELDS = (
    *("crs", "cru", "srs", "sru", "sls", "slu", "cip", "cpt", "sip", "spt", "cprg", "sprg"),
    *("cims", "sexp", "slmd", "rhl", "rdl", "urllen"),
)
WIDTHS = (4, 4, 4, 4, 4, 4, 4, 2, 4, 2, 1, 1, 4, 4, 4, 4, 4, 2)
DTYPE = np.dtype([(name, f">u{width}") for name, width in zip(FIELDS, WIDTHS, strict=True)])
"""Header of a record, with the names and units of the archive.

``cr``, ``sr`` and ``sl`` are the times of the request, and of the first and the last byte of the response, in
seconds (``s``) and microseconds (``u``). ``cip``, ``cpt``, ``sip`` and ``spt`` are the addresses and ports of
client and server, ``cprg`` and ``sprg`` the flags of their headers. ``cims``, ``sexp`` and ``slmd`` are
If-Modified-Since, Expires and Last-Modified, in seconds since the epoch. ``rhl``, ``rdl`` and ``urllen`` are
the sizes of the response's header, of its data and of the request line, in bytes.
"""
UNDEFINED = 0xFFFFFFFF

_PAIR = rb"(\d{1,10}):(\d{1,10}) "
_HOST = rb"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3}):(\d{1,5}) "
_TEXT = re.compile(
    _PAIR * 3 + _HOST * 2 + rb"(\d{1,3}) (\d{1,3}) " + rb"(\d{1,10}) " * 5 + rb"(\d{1,5})(?: (.*))?",
    re.DOTALL,
)


def binary_of_text(line: bytes) -> tuple[bytes, bytes]:
    """Convert a line of showtrace text to its 60-byte header and its request line.

    Raises
    ------
    ValueError
        If the line has another format. The message does not name the line; the caller adds it.
    """
    match = _TEXT.fullmatch(line)
    if not match:
        raise ValueError("expected the 13 fields that showtrace prints and a request line")
    *fields, request = match.groups()
    numbers = [int(field) for field in fields]
    length, request = numbers[-1], request or b""
    # Drop the carriage return of Windows line ends, which the length does not include.
    if len(request) == length + 1 and request.endswith(b"\r"):
        request = request[:-1]
    if len(request) != length:
        raise ValueError(
            f"the request line must have {length} bytes, as in the field before it, got {len(request)}"
        )
    if length and not request.startswith(METHODS):
        raise ValueError(f"the request line must begin with GET, HEAD, POST or PUT, got {_shorten(request)}")
    if max(numbers[6:10] + numbers[11:15]) > 255:
        raise ValueError("expected addresses as dotted quads, each part at most 255")
    addresses = (_join_octets(numbers[6:10]), numbers[10], _join_octets(numbers[11:15]), numbers[15])
    try:
        return HEADER.pack(*numbers[:6], *addresses, *numbers[16:]), request
    except struct.error as error:
        raise ValueError(
            f"a number does not fit its field ({error}); expected unsigned numbers in range"
        ) from None


def dotted_quad(address: int) -> str:
    """Return an IPv4 address as a dotted quad."""
    return ".".join(str(part) for part in address.to_bytes(4, "big"))


def _join_octets(parts: list[int]) -> int:
    return int.from_bytes(bytes(parts), "big")


def _shorten(line: bytes) -> str:
    return repr(truncate(line, 40, b"..."))


BATCH = 20_000
_STARTS = np.array([int.from_bytes(method[:4], "big") for method in METHODS], dtype=np.uint32)


@dataclass(frozen=True, eq=False)
class Batch:
    """Batch of n records.

    Attributes
    ----------
    fields
        Header fields of type :data:`DTYPE`, shape (n,).
    lines
        Request lines.
    """

    fields: NDArray[np.void]
    lines: list[bytes]


def binary_batches(source: ChunkReader) -> Iterator[Batch]:
    """Yield the records of a ``.tr`` stream.

    Like the archive's own reader, this function accepts data that end inside a record. It then adds a
    warning to ``source.warnings``.

    Raises
    ------
    InputError
        If a request line does not begin with a method, so the rest of the file is damaged.
    """
    rest, base = b"", 0
    for chunk in source.chunks():
        data = rest + chunk
        starts, end = _starts(data)
        if starts:
            yield _batch(source, data, starts, end, base)
        rest, base = data[end:], base + end
    if rest:
        _check_cut(source, rest, base)
        source.warnings.append(
            f"the last record, at byte {base:,}, is truncated; its {len(rest)} bytes were omitted"
        )


def text_batches(source: ChunkReader) -> Iterator[Batch]:
    """Yield the records of showtrace text.

    Raises
    ------
    InputError
        If a line is not a record. The message names the line.
    """
    headers: list[bytes] = []
    lines: list[bytes] = []
    for number, line in lines_of(source):
        if not line.strip():
            continue
        try:
            header, request = binary_of_text(line)
        except ValueError as error:
            raise InputError(f"{source.path}, line {number}: {error}.") from None
        headers.append(header)
        lines.append(request)
        if len(lines) == BATCH:
            yield Batch(np.frombuffer(b"".join(headers), DTYPE), lines)
            headers, lines = [], []
    if lines:
        yield Batch(np.frombuffer(b"".join(headers), DTYPE), lines)


def is_binary(head: bytes) -> bool:
    """Return whether data that start with *head* are a ``.tr`` stream, according to the first record."""
    if len(head) < SIZE:
        return False
    first = np.frombuffer(head[:SIZE], DTYPE)[0]
    line = head[SIZE : SIZE + min(int(first["urllen"]), 4)]
    if line:
        return any(method.startswith(line) for method in METHODS)
    micros = (int(first[name]) for name in ("cru", "sru", "slu"))
    return bool(first["spt"] == 80) and all(value < 1_000_000 or value == UNDEFINED for value in micros)


def _starts(data: bytes) -> tuple[list[int], int]:
    """Return the offset of each complete record, and the end of the last one."""
    starts: list[int] = []
    append, size, at = starts.append, len(data), 0
    while at + SIZE <= size:
        # The last two bytes of a header are the length of its request line, big-endian.
        end = at + SIZE + (data[at + 58] << 8 | data[at + 59])
        if end > size:
            break
        append(at)
        at = end
    return starts, at


def _batch(source: ChunkReader, data: bytes, starts: list[int], end: int, base: int) -> Batch:
    at = np.array(starts)
    octets = np.frombuffer(data, np.uint8)
    # Records have variable lengths, so gather the bytes of the headers into rows of equal length.
    fields = octets[at[:, None] + np.arange(SIZE)].view(DTYPE)[:, 0]
    _check_methods(source, octets, at, fields["urllen"], base)
    lines = [data[start + SIZE : stop] for start, stop in zip(starts, [*starts[1:], end], strict=True)]
    return Batch(fields, lines)


def _check_cut(source: ChunkReader, rest: bytes, base: int) -> None:
    """Raise an error if the remaining bytes are not the start of a record, but due to a wrong length."""
    line = rest[SIZE : SIZE + 4]
    if len(line) == 4 and not any(method.startswith(line) for method in METHODS):
        raise _damaged(source, base, rest[SIZE : SIZE + 12])


def _check_methods(
    source: ChunkReader,
    octets: NDArray[np.uint8],
    at: NDArray[np.intp],
    lengths: NDArray[np.uint16],
    base: int,
) -> None:
    with_line = at[lengths >= 4]
    prefixes = octets[with_line[:, None] + np.arange(SIZE, SIZE + 4)].view(">u4")[:, 0]
    wrong = np.concatenate((with_line[~np.isin(prefixes, _STARTS)], at[(lengths > 0) & (lengths < 4)]))
    if wrong.size:
        offset = int(wrong.min())
        raise _damaged(source, base + offset, octets[offset + SIZE : offset + SIZE + 12].tobytes())


def _damaged(source: ChunkReader, offset: int, line_start: bytes) -> InputError:
    return InputError(
        f"{source.path}: the record at byte {offset:,} is damaged; its request line must begin with GET, "
        f"HEAD, POST or PUT, got {line_start!r}."
    )


FORMS = (".tr", ".tr.gz", ".txt", ".txt.gz")


def is_ucb_name(path: Path) -> bool:
    """Return whether a file name has a suffix of UCB files."""
    return path.name.lower().endswith(FORMS)


def write_batches(path: Path, batches: Iterable[Batch]) -> int:
    """Write records and return their number. The suffix ``.txt`` selects the text format."""
    as_text, count = ".txt" in path.suffixes, 0
    with atomic_write_gzip(path) as file:
        for batch in batches:
            file.write(batch_text(batch) if as_text else batch_bytes(batch))
            count += len(batch.lines)
    return count


def batch_text(batch: Batch) -> bytes:
    """Return a batch as the lines that ``showtrace`` prints.

    Raises
    ------
    InputError
        If a request line is not a single line of text.
    """
    rows = zip(batch.fields.tolist(), batch.lines, strict=True)
    return b"".join(_text_line(row, line) for row, line in rows)


def _text_line(row: tuple[int, ...], line: bytes) -> bytes:
    if b"\n" in line or b"\0" in line:
        raise InputError(
            f"The request line {_shorten(line)} cannot be written as text; it must be a single line."
        )
    crs, cru, srs, sru, sls, slu, cip, cpt, sip, spt, *others = row
    times = f"{crs}:{cru} {srs}:{sru} {sls}:{slu}"
    hosts = f"{dotted_quad(cip)}:{cpt} {dotted_quad(sip)}:{spt}"
    return f"{times} {hosts} {' '.join(map(str, others))} ".encode() + line + b"\n"


def batch_bytes(batch: Batch) -> bytes:
    """Return a batch in the format of a ``.tr`` file. Its fields must contain the lengths of its lines."""
    headers = batch.fields.tobytes()
    parts = [b""] * (2 * len(batch.lines))
    parts[0::2] = [headers[at : at + SIZE] for at in range(0, len(headers), SIZE)]
    parts[1::2] = batch.lines
    return b"".join(parts)
