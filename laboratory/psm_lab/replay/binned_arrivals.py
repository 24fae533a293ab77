"""Arrived bytes over time, with each transfer spread uniformly over 10 ms bins.

Source: thesis, section 2.5.4, "Trace-based evaluation framework": the bytes of a connection are smoothed
uniformly over 10 ms intervals from its start to its end.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from psm_lab.replay.network_activity import Transfer

BIN_US = 10_000
"""Length of a bin in microseconds."""


class BinnedArrivals:
    """Arrived bytes per bin, in whole bytes and without rounding losses.

    After j of k bins, a transfer of b bytes has delivered ``b * j // k`` bytes. This count follows a straight
    line to within a byte and reaches b at the end. Bin 0 is the bin in which the first transfer begins. The
    bytes of a bin count as arrived after its end. Bins are not stored, so the time of a query grows with the
    number of active transfers and not with the number of bins.

    Parameters
    ----------
    transfers : iterable of Transfer
        The transfers in the order of their starts, consumed one at a time.
    """

    def __init__(self, transfers: Iterable[Transfer]) -> None:
        self._transfers = iter(transfers)
        self._active: list[_Spread] = []
        self._origin: int | None = None
        self._next = self._pull()

    @property
    def finished(self) -> bool:
        """Whether all bytes of all transfers have been returned."""
        return self._next is None and not self._active

    def until(self, end: int) -> int:
        """Return the bytes of the bins before *end* that have not been returned yet."""
        self._begin(end)
        size, ended = 0, False
        for spread in self._active:
            size += spread.until(end)
            ended = ended or spread.last <= end
        if ended:
            self._active = [spread for spread in self._active if spread.last > end]
        return size

    def offsets(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Return (bin, bytes) of each non-empty bin from *start* to *end*, exclusive.

        The bytes remain available to :meth:`until`.
        """
        self._begin(end)
        if not self._active:
            return ()
        sizes = np.zeros(end - start, dtype=np.int64)
        for spread in self._active:
            sizes += spread.bins(start, end)
        filled = np.flatnonzero(sizes)
        return tuple(zip((start + filled).tolist(), sizes[filled].tolist(), strict=True))

    def _begin(self, end: int) -> None:
        while self._next is not None and self._next.first < end:
            self._active.append(self._next)
            self._next = self._pull()

    def _pull(self) -> _Spread | None:
        transfer = next(self._transfers, None)
        if transfer is None:
            return None
        if self._origin is None:
            self._origin = transfer.start_us // BIN_US
        return _Spread(transfer, self._origin)


class _Spread:
    """One transfer spread over the bins from ``first`` to ``last``, exclusive."""

    __slots__ = ("_bins", "_returned", "_size", "first", "last")

    def __init__(self, transfer: Transfer, origin: int) -> None:
        self.first = transfer.start_us // BIN_US - origin
        self.last = max(-(-transfer.end_us // BIN_US) - origin, self.first + 1)
        self._bins, self._size, self._returned = self.last - self.first, transfer.size, 0

    def until(self, end: int) -> int:
        """Return the bytes before bin *end* that have not been returned yet.

        The transfer must begin before *end*.
        """
        before = self._returned
        self._returned = self._size if end >= self.last else self._size * (end - self.first) // self._bins
        return self._returned - before

    def bins(self, start: int, end: int) -> NDArray[np.int64]:
        """Return the bytes of each bin, shape (end - start,)."""
        edges = np.clip(np.arange(start, end + 1) - self.first, 0, self._bins)
        return np.diff(edges * self._size // self._bins)
