"""Busiest addresses of a capture: packets per address, counted in bounded memory."""

from __future__ import annotations

import numpy as np

from psm_sim.workload.recordings.capture.frame_batch import Wholes

_MAX_ADDRESSES = 1 << 17


class Busiest:
    """Count of packets per address, in the order in which the addresses were first seen to send.

    Only so many addresses are kept that memory is bounded: those with few packets are forgotten first.
    """

    def __init__(self) -> None:
        self._numbers = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._seen = np.empty(0, np.int64)  # rank of the first packet sent or, after those, received
        self._rank = 0

    def add(self, source: Wholes, target: Wholes) -> None:
        """Count the packets of a batch, given as the numbers of their addresses, (n,) each."""
        both = np.concatenate([source, target])
        both = both[both >= 0]  # below 0: nobody's, see Addresses
        found, first, counts = np.unique(both, return_index=True, return_counts=True)
        numbers, inverse = np.unique(np.concatenate([self._numbers, found]), return_inverse=True)
        total = np.zeros(numbers.size, np.int64)
        np.add.at(total, inverse, np.concatenate([self._counts, counts]))
        seen = np.full(numbers.size, np.iinfo(np.int64).max)
        np.minimum.at(seen, inverse, np.concatenate([self._seen, self._rank + first]))
        self._rank += both.size
        self._numbers, self._counts, self._seen = numbers, total, seen
        if numbers.size > 2 * _MAX_ADDRESSES:
            keep = self._order()[:_MAX_ADDRESSES]
            self._numbers, self._counts, self._seen = numbers[keep], total[keep], seen[keep]

    def most(self, count: int | None) -> list[tuple[int, int]]:
        """Return the *count* busiest addresses, None for all, and their packets; of equals the first seen."""
        order = self._order()[:count]
        return list(zip(self._numbers[order].tolist(), self._counts[order].tolist(), strict=True))

    def _order(self) -> Wholes:
        return np.lexsort((self._seen, -self._counts))
