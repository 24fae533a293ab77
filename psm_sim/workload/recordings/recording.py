"""Recording: recorded page views of many clients, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from psm_sim.workload.page_view import Page

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Recording:
    """Page views of C clients, P pages of N objects; each client's are together and in order.

    Attributes
    ----------
    format
        The kind of file it was, in words.
    clients
        The identifiers of the C clients.
    page_client
        (P,) index of the client of each page, in ascending order.
    think_s
        (P,) seconds between the end of the client's page before and this one; NaN where this is not known:
        a client's first page, or runs that are independent of each other.
    first
        (P + 1,) index of each page's main object, and N at the end.
    size
        (N,) bytes of each object's response, header included; at least 1.
    delay_us
        (N,) microseconds the server took to answer, or ``UNKNOWN``.
    request_bytes
        (N,) bytes of each request, or ``UNKNOWN``; None where the format has none.
    records, span_s
        The number of records in the file, and the seconds from the first request to the last.
    warnings
        What was odd in the file, one sentence each.
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

    @property
    def pages(self) -> int:
        """The number of pages, P."""
        return self.page_client.size

    @property
    def objects_per_page(self) -> NDArray[np.int64]:
        """The number of objects of each page, (P,), main object included."""
        return np.diff(self.first)

    def pages_of(self, client: int) -> slice:
        """Return which pages are one client's."""
        low, high = np.searchsorted(self.page_client, [client, client + 1])
        return slice(int(low), int(high))

    def busiest(self) -> NDArray[np.intp]:
        """Return the indices of the clients, the one with most pages first; ties in order of appearance."""
        counts = np.bincount(self.page_client, minlength=len(self.clients))
        return np.argsort(-counts, kind="stable")


def recording_of_pages(pages: Sequence[Page], form: str, client: str) -> Recording:
    """Return pages as the recording of one client; the first page's think time is kept.

    Parameters
    ----------
    pages : sequence of Page
        The pages, in order.
    form : str
        The kind of file they are from, in words.
    client : str
        The identifier of the client.
    """
    objects = [size for page in pages for size in (page.main_bytes, *page.image_bytes)]
    delays = [round(min(delay * 1e6, 2**31 - 1)) for page in pages for delay in page.server_delay_s]
    requests = [min(size, 2**31 - 1) for page in pages for size in page.request_bytes]
    return Recording(
        format=form,
        clients=(client,),
        page_client=np.zeros(len(pages), np.int32),
        think_s=np.array([page.think_s for page in pages]),
        first=np.cumsum([0, *(page.objects for page in pages)]),
        size=np.minimum(objects, 2**32 - 1).astype(np.uint32),
        delay_us=np.array(delays, np.int32),
        request_bytes=np.array(requests, np.int32),
        records=len(pages),
    )
