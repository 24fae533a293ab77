"""Pages loaded in a run, with the state of the energy ledger at the end of each page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, overload

from psm_sim.common.record_array import RecordArray
from psm_sim.network.browser import Visit
from psm_sim.network.observers import Usage
from psm_sim.workload.page_view import Page


class _Times(NamedTuple):
    started_s: float
    ended_s: float


class PageVisits(Sequence[tuple[Visit, Usage]]):
    """Sequence of visits, each with the radio's usage at its end. The numbers are stored in arrays.

    Attributes
    ----------
    failures : dict of int to str
        Reason of each failed page, by its index.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Discard all visits, to free memory once they have been copied."""
        self._pages: list[Page] = []
        self.failures: dict[int, str] = {}
        self._times, self._usages = RecordArray(_Times), RecordArray(Usage)

    def append(self, visit: Visit, usage: Usage) -> None:
        """Append a page and the usage at its end."""
        if visit.failure:
            self.failures[len(self)] = visit.failure
        self._pages.append(visit.page)
        self._times.append(_Times(visit.started_s, visit.ended_s))
        self._usages.append(usage)

    def __len__(self) -> int:
        return len(self._pages)

    @overload
    def __getitem__(self, index: int) -> tuple[Visit, Usage]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[Visit, Usage]]: ...
    def __getitem__(self, index: int | slice) -> tuple[Visit, Usage] | Sequence[tuple[Visit, Usage]]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        failure = self.failures.get(range(len(self))[index], "")
        return Visit(self._pages[index], *self._times[index], failure), self._usages[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PageVisits) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # mutable, like a list
