"""Recorded page views of many clients, stored in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.page_view import Page, PageGraph

UNKNOWN = -1
"""Value of a number that the recording lacks. Known numbers are at least 0."""


@dataclass(frozen=True, eq=False)
class PageRecording:
    """Page views, sorted by client and time: C clients view P pages with N objects in total.

    Attributes
    ----------
    format : str
        Description of the file format.
    clients : tuple of str
        Identifiers of the C clients.
    page_client : ndarray, shape (P,)
        Index of the client that viewed each page. The indices ascend.
    think_s : ndarray, shape (P,)
        Seconds from the end of the client's previous page to the request of this page. NaN if unknown, as for
        the first page of a client or of an independent run.
    first : ndarray, shape (P + 1,)
        Index of the main object of each page, and N as the last element.
    size : ndarray, shape (N,)
        Response size of each object in bytes, including the header; at least 1.
    delay_us : ndarray, shape (N,)
        Server delay in microseconds, or ``UNKNOWN``.
    request_bytes : ndarray, shape (N,), or None
        Size of each request in bytes, or ``UNKNOWN``. None if the format has no request sizes.
    records, span_s
        Number of records in the file, and seconds from the first to the last request.
    warnings : tuple of str
        Minor problems of the file, and remarks on estimated values.
    graphs : tuple of PageGraph
        Dependencies among the objects of each page, length P. Empty if the format does not record any.
    low_delay_us : ndarray, shape (N,), or None
        Lower bound of each server delay in microseconds, or ``UNKNOWN``. None except for HAR files.
    """

    format: str
    clients: tuple[str, ...]
    page_client: NDArray[np.int32]
    think_s: NDArray[np.float64]
    first: NDArray[np.int64]
    size: NDArray[np.uint32]
    delay_us: NDArray[np.int32]
    request_bytes: NDArray[np.int32] | None = None
    records: int = 0
    span_s: float = 0.0
    warnings: tuple[str, ...] = field(default=())
    graphs: tuple[PageGraph, ...] = ()
    low_delay_us: NDArray[np.int32] | None = None

    @property
    def pages(self) -> int:
        """Number of pages, P."""
        return self.page_client.size

    @property
    def objects_per_page(self) -> NDArray[np.int64]:
        """Number of objects of each page, including the main object, shape (P,)."""
        return np.diff(self.first)

    @property
    def is_main(self) -> NDArray[np.bool_]:
        """Whether each object is the main object of its page, shape (N,)."""
        is_main = np.zeros(self.size.size, dtype=bool)
        is_main[self.first[:-1]] = True
        return is_main

    def pages_of(self, client: int) -> slice:
        """Return the range of the pages of *client*."""
        low, high = np.searchsorted(self.page_client, [client, client + 1])
        return slice(int(low), int(high))

    def busiest(self) -> NDArray[np.intp]:
        """Return the indices of the clients, sorted by descending number of pages. The sort is stable."""
        counts = np.bincount(self.page_client, minlength=len(self.clients))
        return np.argsort(-counts, kind="stable")


def recording_of_pages(pages: Sequence[Page], client: str) -> PageRecording:
    """Convert the pages of a page list to a recording of a single client."""
    objects = [size for page in pages for size in (page.main_bytes, *page.image_bytes)]
    delays = [round(min(delay * 1e6, 2**31 - 1)) for page in pages for delay in page.server_delay_s]
    requests = [min(size, 2**31 - 1) for page in pages for size in page.request_bytes]
    return PageRecording(
        format="page list",
        clients=(client,),
        page_client=np.zeros(len(pages), np.int32),
        think_s=np.array([page.think_s for page in pages]),
        first=np.cumsum([0, *(page.objects for page in pages)]),
        size=np.minimum(objects, 2**32 - 1).astype(np.uint32),
        delay_us=np.array(delays, np.int32),
        request_bytes=np.array(requests, np.int32),
        records=len(pages),
    )
