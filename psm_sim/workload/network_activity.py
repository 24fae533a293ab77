"""Transfers, the network activity of a client: when each began and ended, and its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Transfer(NamedTuple):
    """One request's bytes, from when it was sent to its last byte, in whole microseconds."""

    start_us: int
    end_us: int
    size: int


@dataclass(frozen=True)
class Activity:
    """The transfers of one client, in the order in which they began.

    ``client`` is its identifier; ``synthetic`` says that nobody browsed; ``remark`` is one plain sentence
    of what the transfers are; ``parameters`` are those of the trace as plain values.
    """

    client: str
    transfers: Sequence[Transfer]
    synthetic: bool
    remark: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        """The bytes of all transfers."""
        return sum(transfer.size for transfer in self.transfers)


def without_gaps(transfers: Iterable[Transfer], longest_us: int) -> Iterator[Transfer]:
    """Yield *transfers*, each silence between them that is longer than *longest_us* cut to that length."""
    moved_us, done_us = 0, None
    for start_us, end_us, size in transfers:
        # Silence begins when all transfers so far are done, not only the one that began last.
        if done_us is not None:
            moved_us += max(start_us - done_us - longest_us, 0)
        done_us = max(end_us, done_us or end_us)
        yield Transfer(start_us - moved_us, end_us - moved_us, size)
