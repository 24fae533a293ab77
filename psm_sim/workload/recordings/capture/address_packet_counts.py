"""Packet counts per address of a capture, in bounded memory."""

from __future__ import annotations

import numpy as np

from psm_sim.workload.recordings.capture.frame_batch import IntArray

_MAX_ADDRESSES = 1 << 17


class PacketCounter:
    """Packet counts per address. Ties are ordered by the first packet of an address.

    To bound memory, addresses with few packets are discarded when there are too many.
    """

    def __init__(self) -> None:
        self._numbers = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._first_seen = np.empty(
            0, np.int64
        )  # rank of the first packet; in a batch, sources precede targets
        self._rank = 0

    def add(self, source: IntArray, target: IntArray) -> None:
        """Count the packets of a batch, given the address codes of their sources and targets, shape (n,)."""
        packets = np.concatenate([source, target])
        packets = packets[packets >= 0]  # -1: not in the bounded table of Addresses
        addresses, first, counts = np.unique(packets, return_index=True, return_counts=True)
        numbers, inverse = np.unique(np.concatenate([self._numbers, addresses]), return_inverse=True)
        total = np.zeros(numbers.size, np.int64)
        np.add.at(total, inverse, np.concatenate([self._counts, counts]))
        first_seen = np.full(numbers.size, np.iinfo(np.int64).max)
        np.minimum.at(first_seen, inverse, np.concatenate([self._first_seen, self._rank + first]))
        self._rank += packets.size
        self._numbers, self._counts, self._first_seen = numbers, total, first_seen
        if numbers.size > 2 * _MAX_ADDRESSES:
            kept = self._order()[:_MAX_ADDRESSES]
            self._numbers, self._counts, self._first_seen = numbers[kept], total[kept], first_seen[kept]

    def most_common(self, count: int | None) -> list[tuple[int, int]]:
        """Return pairs of address and packet count for the *count* busiest addresses; None for all."""
        order = self._order()[:count]
        return list(zip(self._numbers[order].tolist(), self._counts[order].tolist(), strict=True))

    def _order(self) -> IntArray:
        return np.lexsort((self._first_seen, -self._counts))
