"""Reader of plain and gzipped files in chunks, or line by line."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from psm_sim.common.errors import InputError
from psm_sim.common.input_files import open_input, unreadable
from psm_sim.common.progress import Progress

CHUNK_BYTES = 1 << 20
"""Bytes that are read and decompressed at a time."""
GZIP = b"\x1f\x8b"
# A file that expands above both limits is rejected. The bundled traces expand at most tenfold.
MAX_EXPANSION, FREE_EXPANSION = 100, 4 << 20
MAX_TRACE_BYTES = 4 << 30
"""Maximum size of a decompressed trace, in bytes. The largest known archive has 1 GiB."""


class ChunkReader:
    """Reader of a file in chunks of at most 1 MiB of decompressed data.

    Gzip is recognised by its first two bytes. Consecutive gzip members are one stream. Memory is bounded for
    any file, because reading fails once the decompressed data exceed both 4 MiB and 100 times the compressed
    size.

    Parameters
    ----------
    path
        File to read.
    progress
        Called with the bytes read, the size of the file and its name.
    max_bytes
        Maximum size of the decompressed data.

    Attributes
    ----------
    warnings
        Problems that are not fatal, such as a truncated gzip stream.
    """

    def __init__(
        self, path: Path, progress: Progress | None = None, max_bytes: int = MAX_TRACE_BYTES
    ) -> None:
        self.path, self.warnings = path, list[str]()
        self._progress, self._max_bytes = progress, max_bytes

    def chunks(self) -> Iterator[bytes]:
        """Yield the decompressed data.

        Raises
        ------
        InputError
            If the file cannot be read, its gzip data are corrupt, or they expand beyond the limit.
        """
        unpacked = 0
        try:
            with open_input(self.path) as file:
                size = os.fstat(file.fileno()).st_size
                data = gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == GZIP else file
                while chunk := data.read1(CHUNK_BYTES):
                    unpacked += len(chunk)
                    self._check_size(unpacked, file.tell())
                    if self._progress:
                        self._progress(file.tell(), size, self.path.name)
                    yield chunk
        except EOFError:
            self.warnings.append(f"the gzip data ends early, after {unpacked:,} decompressed bytes")
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"{self.path}: corrupt gzip data after {unpacked:,} decompressed bytes ({error}); download "
                "the file again."
            ) from error
        except OSError as error:
            raise unreadable(self.path, error) from error

    def head(self, size: int = 1 << 16) -> bytes:
        """Return the first *size* bytes of the decompressed data, or all if there are fewer."""
        data = b""
        for chunk in self.chunks():
            data += chunk
            if len(data) >= size:
                break
        return data[:size]

    def _check_size(self, unpacked: int, consumed: int) -> None:
        if unpacked > self._max_bytes:
            raise InputError(
                f"{self.path} must be at most {self._max_bytes >> 20:,} MiB after decompression; use a "
                "smaller trace."
            )
        if unpacked > max(FREE_EXPANSION, MAX_EXPANSION * consumed):
            raise InputError(
                f"{self.path} expands to over {MAX_EXPANSION} times its size ({unpacked:,} bytes from "
                f"{consumed:,}); if it is a trace, decompress it first."
            )


MAX_LINE_BYTES = 1 << 20
"""Limit of the memory for one line; a line of a trace has a few hundred bytes."""


def lines_of(source: ChunkReader) -> Iterator[tuple[int, bytes]]:
    """Yield the number of each line, from 1, and the line without its line feed.

    Raises
    ------
    InputError
        If the file is not text: it contains a NUL byte, or a line is longer than 1 MiB.
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
    """Decode UTF-8, and yield the lines with their line feeds. Drop a byte order mark."""
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
