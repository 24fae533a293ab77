"""Reader of UCB Home IP files in batches of records.

Only finding the start of each record needs a Python loop, because it depends on the length of the previous
record. Everything else uses NumPy. Memory is bounded by the chunk size, for a file of any length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.text_lines import lines_of
from psm_sim.workload.recordings.ucb_record import DTYPE, SIZE, UNDEFINED, Record, binary_of_text
from psm_sim.workload.recordings.ucb_request_lines import METHODS

BATCH = 20_000
_STARTS = np.array([int.from_bytes(method[:4], "big") for method in METHODS], dtype=np.uint32)


@dataclass(frozen=True, eq=False)
class Batch:
    """Batch of n records.

    Attributes
    ----------
    fields
        Header fields of type :data:`~psm_sim.workload.recordings.ucb_record.DTYPE`, shape (n,).
    lines
        Request lines.
    """

    fields: NDArray[np.void]
    lines: list[bytes]

    def records(self) -> Iterator[Record]:
        """Yield the records one by one."""
        for row, line in zip(self.fields.tolist(), self.lines, strict=True):
            yield Record(*(*row[:-1], line))


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
