"""Source of a trace: the bytes of a file, unpacked if gzipped, one piece at a time."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from psm_sim.errors import InputError
from psm_sim.files.reopenable_input import open_seekable
from psm_sim.progress import Progress

PIECE = 1 << 20
GZIP = b"\x1f\x8b"
MAX_EXPANSION = 100
FREE_EXPANSION = 16 << 20
MAX_BYTES = 4 << 30
"""Bytes, unpacked, of any trace; the largest archive known has 1 GiB."""


class ChunkReader:
    """One pass over a file, in pieces of at most a mebibyte of unpacked data.

    Gzip is recognised by its first two bytes; several members after each other are one stream. Memory is
    bounded for any file: unpacking stops once it gives more than 16 MiB and more than 100 times what
    was read. ``warnings`` collects what is odd but not fatal, such as a gzip stream cut short;
    ``unpacked`` counts the bytes given so far.
    """

    def __init__(self, path: Path, progress: Progress | None = None, most: int = MAX_BYTES) -> None:
        self._most = most
        self.path, self.warnings, self.unpacked = path, list[str](), 0
        self._progress, self._read, self._size = progress, 0, 0

    def pieces(self) -> Iterator[bytes]:
        """Yield the unpacked data.

        Raises
        ------
        InputError
            If the file cannot be read, its gzip data is damaged, or it expands beyond the limit.
        """
        try:
            with open_seekable(self.path) as file:
                self._size = os.fstat(file.fileno()).st_size
                packed = file.read(2) == GZIP
                file.seek(0)
                for piece in self._gunzip(file) if packed else self._raw(file):
                    self.unpacked += len(piece)
                    if self.unpacked > self._most:
                        raise InputError(
                            f"{self.path} holds over {self._most >> 20:,} MiB; expected a smaller trace."
                        )
                    yield piece
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be read: {error.strerror or error}; give a readable file."
            ) from error

    def head(self, size: int = 1 << 16) -> bytes:
        """Return the first bytes of the unpacked data, at most *size*."""
        found = b""
        for piece in self.pieces():
            found += piece
            if len(found) >= size:
                break
        return found[:size]

    def _raw(self, file: BinaryIO) -> Iterator[bytes]:
        while piece := file.read(PIECE):
            self._read += len(piece)
            if self._progress:
                self._progress(self._read, self._size, self.path.name)
            yield piece

    def _gunzip(self, file: BinaryIO) -> Iterator[bytes]:
        member, started, given = zlib.decompressobj(31), False, 0  # 31: zlib's code for gzip headers
        for packed in self._raw(file):
            rest = packed
            while rest:
                if not started and not rest.strip(b"\0"):
                    break
                piece = self._unpack(member, rest, given)
                started, given = True, given + len(piece)
                self._check_expansion(given)
                if piece:
                    yield piece
                rest = member.unconsumed_tail
                if member.eof:
                    rest, member, started = member.unused_data, zlib.decompressobj(31), False
        if started:
            self.warnings.append(f"the gzip data ends early, after {given:,} unpacked bytes")

    def _unpack(self, member: zlib._Decompress, data: bytes, given: int) -> bytes:
        try:
            # At most one piece: the rest waits in unconsumed_tail, so that a bomb cannot fill the memory.
            return member.decompress(data, PIECE)
        except zlib.error as error:
            raise InputError(
                f"{self.path}: the gzip data is damaged near byte {self._read - len(data):,} "
                f"({given:,} unpacked): {error}; fetch the file again."
            ) from error

    def _check_expansion(self, given: int) -> None:
        if given > FREE_EXPANSION and given > MAX_EXPANSION * self._read:
            raise InputError(
                f"{self.path} expands to over {MAX_EXPANSION} times its size ({given:,} bytes from "
                f"{self._read:,}); expected a trace; if it is one, unpack it first."
            )
