"""Reader of the lines of a text file, with a limit on their length."""

from __future__ import annotations

from collections.abc import Iterator

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.chunk_reader import ChunkReader

MAX_LINE_BYTES = 1 << 20


def lines_of(source: ChunkReader) -> Iterator[tuple[int, bytes]]:
    """Yield each line without its line feed, with its number from 1.

    Raises
    ------
    InputError
        If a line is longer than 1 MiB or the file contains a NUL byte, so it is not a text file.
    """
    rest, number, offset = b"", 0, 0  # rest: start of a line that continues in the next chunk
    for chunk in source.chunks():
        if b"\0" in chunk:
            position = offset + chunk.index(0)
            raise InputError(f"{source.path}: byte {position} is NUL; expected a text file.")
        offset += len(chunk)
        *complete, last = chunk.split(b"\n")
        for line in complete:
            number += 1
            joined, rest = rest + line, b""
            _check_length(source, number, joined)
            yield number, joined
        rest += last
        _check_length(source, number + 1, rest)
    if rest:
        yield number + 1, rest


def text_lines(source: ChunkReader) -> Iterator[str]:
    """Yield the lines as UTF-8 text, with line feeds but without a byte order mark."""
    for number, line in lines_of(source):
        data = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        try:
            yield data.decode("utf-8") + "\n"
        except UnicodeDecodeError as error:
            raise InputError(
                f"{source.path}, line {number}: byte {error.start} of the line is not UTF-8; "
                "expected a text file in UTF-8."
            ) from error


def _check_length(source: ChunkReader, number: int, line: bytes) -> None:
    if len(line) > MAX_LINE_BYTES:
        raise InputError(
            f"{source.path}, line {number}: a line must be at most {MAX_LINE_BYTES:,} bytes long; expected a "
            "text trace."
        )
