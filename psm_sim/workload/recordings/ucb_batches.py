"""UCB Home IP files as batches of records: header fields in arrays, request lines beside them.

The one loop over records in Python finds where each begins, which depends on the length of the one
before; everything else is NumPy's. Memory is that of one piece, for a file of any length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.errors import InputError
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.request_line import METHODS
from psm_sim.workload.recordings.text_lines import lines_of
from psm_sim.workload.recordings.ucb_record import DTYPE, SIZE, UNDEFINED, Record, binary_of_text

BATCH = 20_000
_STARTS = np.array([int.from_bytes(method[:4], "big") for method in METHODS], dtype=np.uint32)


@dataclass(frozen=True, eq=False)
class Batch:
    """Batch of n records: ``fields`` (n,) of :data:`DTYPE`, and the n request ``lines``."""

    fields: NDArray[np.void]
    lines: list[bytes]

    def records(self) -> Iterator[Record]:
        """Yield the records one by one."""
        for row, line in zip(self.fields.tolist(), self.lines, strict=True):
            yield Record(*(*row[:-1], line))


def binary_batches(source: ChunkReader) -> Iterator[Batch]:
    """Yield the records of a ``.tr`` stream.

    The end of the data is the end of the trace, also inside a record, as for the archive's own reader;
    in that case ``source.warnings`` says so.

    Raises
    ------
    InputError
        If a request line does not begin with a method: the file is damaged from there on.
    """
    rest, begin = b"", 0
    for piece in source.pieces():
        data = rest + piece
        starts, end = _starts(data)
        if starts:
            yield _batch(source, data, starts, end, begin)
        rest, begin = data[end:], begin + end
    if rest:
        _check_cut(source, rest, begin)
        source.warnings.append(
            f"the last record, at byte {begin:,}, is cut short: {len(rest)} bytes of it are dropped"
        )


def text_batches(source: ChunkReader) -> Iterator[Batch]:
    """Yield the records of showtrace text; an error names the line."""
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
    """Say whether data that begin with *head* are a ``.tr`` stream, by the first record."""
    if len(head) < SIZE:
        return False
    first = np.frombuffer(head[:SIZE], DTYPE)[0]
    line = head[SIZE : SIZE + min(int(first["urllen"]), 4)]
    if line:
        return any(method.startswith(line) for method in METHODS)
    micros = (int(first[name]) for name in ("cru", "sru", "slu"))
    return bool(first["spt"] == 80) and all(value < 1_000_000 or value == UNDEFINED for value in micros)


def _starts(data: bytes) -> tuple[list[int], int]:
    """Return where each whole record begins, and where the last one ends."""
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


def _batch(source: ChunkReader, data: bytes, starts: list[int], end: int, begin: int) -> Batch:
    at = np.array(starts)
    octets = np.frombuffer(data, np.uint8)
    # Records have no fixed length, so their headers are gathered byte by byte into rows of equal length.
    fields = octets[at[:, None] + np.arange(SIZE)].view(DTYPE)[:, 0]
    _check_methods(source, octets, at, fields["urllen"], begin)
    lines = [data[start + SIZE : stop] for start, stop in zip(starts, [*starts[1:], end], strict=True)]
    return Batch(fields, lines)


def _check_cut(source: ChunkReader, rest: bytes, begin: int) -> None:
    """Raise an error if the bytes left are no begin of a record, but the result of a wrong length."""
    line = rest[SIZE : SIZE + 4]
    if len(line) == 4 and not any(method.startswith(line) for method in METHODS):
        raise _damaged(source, begin, rest[SIZE : SIZE + 12])


def _check_methods(
    source: ChunkReader,
    octets: NDArray[np.uint8],
    at: NDArray[np.intp],
    lengths: NDArray[np.uint16],
    begin: int,
) -> None:
    with_line = at[lengths >= 4]
    words = octets[with_line[:, None] + np.arange(SIZE, SIZE + 4)].view(">u4")[:, 0]
    wrong = np.concatenate((with_line[~np.isin(words, _STARTS)], at[(lengths > 0) & (lengths < 4)]))
    if wrong.size:
        offset = int(wrong.min())
        raise _damaged(source, begin + offset, octets[offset + SIZE : offset + SIZE + 12].tobytes())


def _damaged(source: ChunkReader, offset: int, found: bytes) -> InputError:
    return InputError(
        f"{source.path}: the record at byte {offset:,} is damaged: its request line begins with {found!r}; "
        "expected GET, HEAD, POST or PUT."
    )
