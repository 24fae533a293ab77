"""Window on a source: the bytes not yet used, and where in the file they stand."""

from __future__ import annotations

from psm_sim.workload.recordings.chunk_reader import ChunkReader

_ENOUGH = 1 << 21


class Window:
    """Window that moves over the unpacked bytes of a source, a piece at a time.

    ``data`` has the bytes not yet used, ``base`` is where the first of them stands in the file.
    """

    def __init__(self, source: ChunkReader) -> None:
        self.source = source
        self._pieces = source.pieces()
        self.data, self.base = b"", 0

    def move(self, used: int) -> bool:
        """Drop the first *used* bytes, and add pieces until there is enough; return whether one was added.

        With nothing used at least one is added, if there is one: what comes first is longer than the data.
        """
        parts = [self.data[used:]]
        size = len(parts[0])
        while size < _ENOUGH or (not used and len(parts) == 1):
            piece = next(self._pieces, None)
            if piece is None:
                break
            parts.append(piece)
            size += len(piece)
        self.data, self.base = b"".join(parts), self.base + used
        return len(parts) > 1

    def fill(self, size: int) -> bool:
        """Add pieces until there are *size* bytes; return whether there are."""
        while len(self.data) < size:
            if not self.move(0):
                return False
        return True
