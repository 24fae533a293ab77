"""Window on a source: the bytes not yet used, and where in the file they stand."""

from __future__ import annotations

from psm_sim.workload.recordings.source import Source

_ENOUGH = 1 << 22


class Window:
    """Window that moves over the unpacked bytes of a source, a piece at a time.

    ``data`` has the bytes not yet used, ``base`` is where the first of them stands in the file.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._pieces = source.pieces()
        self.data, self.base = b"", 0

    def move(self, used: int) -> bool:
        """Drop the first *used* bytes and add the next pieces; return whether there was one."""
        parts, added = [self.data[used:]], 0
        # Pieces of a gzip file of many small members are tiny: without end a batch for each would be made.
        while added < _ENOUGH and (piece := next(self._pieces, None)) is not None:
            parts.append(piece)
            added += len(piece)
        self.data, self.base = b"".join(parts), self.base + used
        return added > 0

    def fill(self, size: int) -> bool:
        """Add pieces until there are *size* bytes; return whether there are."""
        while len(self.data) < size:
            if not self.move(0):
                return False
        return True
