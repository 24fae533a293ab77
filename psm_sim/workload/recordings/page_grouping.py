"""Requests of many clients, and their grouping into page views.

The rule is that of Ford's SST client. A request for an image, sound or Java class belongs to the page of the
client's previous request if it goes to the same server at most 60 s later. Any other request begins a page.
Requests are processed in the order in which they were sent.

The think time is the gap from the last byte of a page to the first request of the next page. It is 0 if the
user did not wait for the end of the page.

A trace is ordered by time, but pages are grouped per client. Rows are therefore distributed over buckets by
client. A bucket is in memory while it is small and in a temporary file afterwards. Sorting one bucket at a
time bounds the memory for a trace of any length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_RECORDS, MAX_S
from psm_sim.common.parameters import check_all, parameter
from psm_sim.workload.recordings.recording import Recording

Rows = NDArray[np.void]

SECONDARY = {
    "gif", "jpg", "jpeg", "tif", "jfif", "bmp", "pjpg", "xbm", "anm",
    "mid", "aif", "aiff", "au", "vox", "wav", "class", "jar",
}  # fmt: skip
"""Suffixes of embedded objects (images, sounds and Java), as in Ford's SST client."""


@dataclass(frozen=True)
class PageRule:
    """Parameters of the rule that groups requests into pages."""

    page_gap_s: float = parameter(
        60.0, "maximum interval between two requests of a page", unit="s", at_least=0, at_most=MAX_S
    )
    same_server: bool = parameter(True, "embedded objects come from the server of the previous request")

    def __post_init__(self) -> None:
        check_all(self, "trace")


def group_requests(
    requests: ClientRequests, clients: tuple[str, ...], rule: PageRule, **facts: Any
) -> Recording:
    """Group requests into pages.

    Parameters
    ----------
    requests : ClientRequests
        Requests of all clients. They are consumed.
    clients : tuple of str
        Identifiers of the clients, indexed by the numbers in the requests.
    rule : PageRule
        Rule that groups requests into pages.
    **facts
        Further fields of the :class:`Recording`.
    """
    columns: dict[str, list[NDArray[Any]]] = {name: [np.empty(0, kind)] for name, kind in _KINDS.items()}
    span_s = (requests.last_us - requests.first_us) / 1e6
    for rows in requests.buckets():
        main_rows = np.flatnonzero(page_starts(rows, rule))
        columns["client"].append(rows["client"][main_rows])
        columns["think"].append(think_s(rows, main_rows))
        columns["files"].append(np.diff(main_rows, append=rows.size))
        columns["size"].append(rows["size"].copy())
        columns["delay"].append(rows["delay_us"].copy())
    merged = {name: np.concatenate(columns.pop(name)) for name in list(columns)}
    # Renumber the clients in bucket order, so that page_client is sorted.
    order = sorted(range(len(clients)), key=lambda code: (code % BUCKETS, code))
    rank = np.empty(len(clients), np.int32)
    rank[order] = np.arange(len(clients))
    return Recording(
        clients=tuple(clients[code] for code in order),
        page_client=rank[merged["client"]],
        think_s=merged["think"],
        first=np.append(0, np.cumsum(merged["files"])),
        size=merged["size"],
        delay_us=merged["delay"],
        span_s=span_s,
        **facts,
    )


_KINDS = {"client": np.int32, "think": np.float64, "files": np.int64, "size": np.uint32, "delay": np.int32}


def page_starts(rows: Rows, rule: PageRule) -> NDArray[np.bool_]:
    """Return whether each request begins a page, shape (n,). *rows* are sorted by client and time."""
    follows: NDArray[np.bool_] = rows["secondary"].copy()
    follows[:1] = False
    follows[1:] &= rows["client"][1:] == rows["client"][:-1]
    follows[1:] &= np.diff(rows["at_us"]) <= round(rule.page_gap_s * 1e6)
    if rule.same_server:
        follows[1:] &= rows["server"][1:] == rows["server"][:-1]
    return ~follows


def think_s(rows: Rows, main_rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the think time before each page in seconds, NaN for the first page of a client.

    *main_rows* are the indices of the main objects in *rows*.
    """
    think = np.full(main_rows.size, np.nan)
    ended = np.maximum.reduceat(rows["at_us"] + rows["took_us"], main_rows)
    gaps = rows["at_us"][main_rows[1:]] - ended[:-1]
    same = np.flatnonzero(rows["client"][main_rows[1:]] == rows["client"][main_rows[:-1]])
    think[1 + same] = np.maximum(gaps[same], 0) / 1e6
    return think


def suffix_is_secondary(suffix: str) -> bool:
    """Return whether a suffix, with its dot, is that of an embedded object."""
    return suffix.lower().removeprefix(".") in SECONDARY


BUCKETS = 16
IN_MEMORY = 1 << 20

ROW = np.dtype(
    [
        ("client", np.int32),
        ("server", np.uint32),
        ("at_us", np.int64),
        ("took_us", np.uint32),
        ("delay_us", np.int32),
        ("size", np.uint32),
        ("secondary", np.bool_),
    ]
)
"""Request with the numbers of its client and server.

``at_us`` is the time of the request, ``took_us`` the time until the last byte, and ``delay_us`` the server
delay or -1, in microseconds. ``size`` is that of the response in bytes. ``secondary`` is whether the request
is for an embedded object.
"""


class ClientRequests:
    """Requests in buckets by client. The context manager closes the temporary files."""

    def __init__(self) -> None:
        self.count, self.first_us, self.last_us = 0, 0, 0
        self._buckets = [SpooledTemporaryFile(max_size=IN_MEMORY) for _ in range(BUCKETS)]  # noqa: SIM115 (closed in __exit__ or buckets)

    def __enter__(self) -> ClientRequests:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._buckets:
            file.close()

    def extend(self, **columns: Any) -> None:
        """Add requests. *columns* has an array of shape (n,) for each field of :data:`ROW`."""
        rows = np.empty(len(columns["client"]), ROW)
        for name, values in columns.items():
            rows[name] = values
        if not rows.size:
            return
        first_us, last_us = int(rows["at_us"].min()), int(rows["at_us"].max())
        self.first_us = min(self.first_us, first_us) if self.count else first_us
        self.last_us = max(self.last_us, last_us) if self.count else last_us
        self.count += rows.size
        if self.count > MAX_RECORDS:
            raise InputError(f"the trace has over {MAX_RECORDS:,} requests; split it into parts.")
        bucket = rows["client"] % BUCKETS
        for number in np.unique(bucket).tolist():
            self._buckets[number].write(rows[bucket == number].tobytes())

    def buckets(self) -> Iterator[NDArray[np.void]]:
        """Yield the rows of each bucket, sorted by client and time, and discard the bucket.

        Rows with equal times keep the order of the file.
        """
        while self._buckets:
            with self._buckets.pop(0) as file:
                file.seek(0)
                rows = np.frombuffer(file.read(), ROW)
            if rows.size:
                yield rows[np.lexsort((rows["at_us"], rows["client"]))]
