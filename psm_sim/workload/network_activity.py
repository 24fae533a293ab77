"""Network activity of a client as a list of transfers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Transfer(NamedTuple):
    """Transfer from its request to the last byte of the response, with integer times in microseconds."""

    start_us: int
    end_us: int
    size: int


@dataclass(frozen=True)
class Activity:
    """Transfers of one client, ordered by start.

    Attributes
    ----------
    client
        Identifier of the client.
    transfers
        Transfers of the client.
    synthetic
        Whether the transfers are generated rather than recorded.
    remark
        Description for users, one sentence.
    parameters
        Parameters of the trace as plain values.
    """

    client: str
    transfers: Sequence[Transfer]
    synthetic: bool
    remark: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        """Total size of all transfers, in bytes."""
        return sum(transfer.size for transfer in self.transfers)


def without_gaps(transfers: Iterable[Transfer], longest_us: int) -> Iterator[Transfer]:
    """Yield *transfers* with every idle period between them shortened to at most *longest_us*."""
    moved_us, done_us = 0, None
    for start_us, end_us, size in transfers:
        # The link is idle once all earlier transfers are done, not only the one that began last.
        if done_us is not None:
            moved_us += max(start_us - done_us - longest_us, 0)
        done_us = max(end_us, done_us or end_us)
        yield Transfer(start_us - moved_us, end_us - moved_us, size)
