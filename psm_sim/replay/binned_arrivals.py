"""Arrivals: the bytes that have come by a given time, each transfer spread evenly over 10 ms bins.

Source: thesis, section 2.5.4, "Trace-based evaluation framework": the bytes of a connection are smoothed
uniformly over 10 ms intervals from its start to its end.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.network_activity import Transfer

BIN_US = 10_000


class BinnedArrivals:
    """The bytes that arrive, bin by bin, in whole bytes and without rounding anything away.

    A transfer of b bytes over k bins has brought ``b * j // k`` of them after j bins: a straight line
    to less than a byte, and all of b at the end. Time 0 is the bin in which the first transfer begins; a
    bin counts once it is over. Bins are not stored: the time of a question grows with the transfers under
    way, not with the bins.

    Parameters
    ----------
    transfers : iterable of Transfer
        The transfers, in the order in which they begin; taken one at a time.
    """

    def __init__(self, transfers: Iterable[Transfer]) -> None:
        self._coming = iter(transfers)
        self._under_way: list[_Spread] = []
        self._origin: int | None = None
        self._next = self._pull()

    @property
    def finished(self) -> bool:
        """Whether all bytes of all transfers have been handed out."""
        return self._next is None and not self._under_way

    def until(self, end: int) -> int:
        """Return the bytes that came in the bins before *end* and were not returned before."""
        self._begin(end)
        buffered, ended = 0, False
        for spread in self._under_way:
            buffered += spread.until(end)
            ended = ended or spread.last <= end
        if ended:
            self._under_way = [spread for spread in self._under_way if spread.last > end]
        return buffered

    def offsets(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Return (bin, bytes) of each bin with bytes, from *start* to before *end*; hands out nothing."""
        self._begin(end)
        if not self._under_way:
            return ()
        each = np.zeros(end - start, dtype=np.int64)
        for spread in self._under_way:
            each += spread.bins(start, end)
        full = np.flatnonzero(each)
        return tuple(zip((start + full).tolist(), each[full].tolist(), strict=True))

    def _begin(self, end: int) -> None:
        while self._next is not None and self._next.first < end:
            self._under_way.append(self._next)
            self._next = self._pull()

    def _pull(self) -> _Spread | None:
        transfer = next(self._coming, None)
        if transfer is None:
            return None
        if self._origin is None:
            self._origin = transfer.start_us // BIN_US
        return _Spread(transfer, self._origin)


class _Spread:
    """One transfer over its bins, ``first`` to before ``last``."""

    __slots__ = ("_bins", "_given", "_size", "first", "last")

    def __init__(self, transfer: Transfer, origin: int) -> None:
        self.first = transfer.start_us // BIN_US - origin
        self.last = max(-(-transfer.end_us // BIN_US) - origin, self.first + 1)
        self._bins, self._size, self._given = self.last - self.first, transfer.size, 0

    def until(self, end: int) -> int:
        """Return the bytes that came before *end*, at which it has begun, since the last question."""
        before = self._given
        self._given = self._size if end >= self.last else self._size * (end - self.first) // self._bins
        return self._given - before

    def bins(self, start: int, end: int) -> NDArray[np.int64]:
        """Return (end - start,) the bytes of each bin."""
        edges = np.clip(np.arange(start, end + 1) - self.first, 0, self._bins)
        return np.diff(edges * self._size // self._bins)
