"""Lines of a text file, bounded and checked."""

from __future__ import annotations

from collections.abc import Iterator

from psm_sim.errors import InputError
from psm_sim.workload.recordings.chunk_reader import ChunkReader

MAX_LINE_BYTES = 1 << 20


def lines_of(source: ChunkReader) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each line, from 1, and the line without its line feed.

    Raises
    ------
    InputError
        If a line is longer than a mebibyte or the file holds a NUL byte, which no text does.
    """
    rest, number, before = b"", 0, 0  # rest: the begin of a line that the next piece goes on with
    for piece in source.pieces():
        if b"\0" in piece:
            offset = before + piece.index(0)
            raise InputError(f"{source.path}: byte {offset} is NUL; expected a text file.")
        before += len(piece)
        *whole, last = piece.split(b"\n")
        for line in whole:
            number += 1
            full, rest = rest + line, b""
            _check_length(source, number, full)
            yield number, full
        rest += last
        _check_length(source, number + 1, rest)
    if rest:
        yield number + 1, rest


def text_lines(source: ChunkReader) -> Iterator[str]:
    """Yield the lines as UTF-8 text, line feed included; a byte order mark is dropped."""
    for number, line in lines_of(source):
        data = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        try:
            yield data.decode("utf-8") + "\n"
        except UnicodeDecodeError as error:
            raise InputError(
                f"{source.path}, line {number}: byte {error.start} of the line is no UTF-8; "
                "expected a text file in UTF-8."
            ) from error


def _check_length(source: ChunkReader, number: int, line: bytes) -> None:
    if len(line) > MAX_LINE_BYTES:
        raise InputError(
            f"{source.path}, line {number}: the line is longer than {MAX_LINE_BYTES:,} bytes; expected a "
            "text trace."
        )
