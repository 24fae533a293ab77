"""Sliding window over the decompressed bytes of a file."""

from __future__ import annotations

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
