"""Grouping of requests into page views: which requests belong to one page, and the gaps between pages.

The rule is that of Ford's SST client: a request belongs to the page of the request before it, of the same
client, if it is for an image, sound or Java class, goes to the same server, and comes at most 60 s later.
Anything else begins a page. Requests are taken in the order in which they were sent. Think time is the gap
from the last byte of a page to the next page's first request; 0 where the user did not wait for the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from psm_sim.limits import MAX_S
from psm_sim.parameters import check_all, parameter
from psm_sim.workload.recordings.client_requests import BUCKETS, ClientRequests
from psm_sim.workload.recordings.recording import Recording

Rows = NDArray[np.void]


@dataclass(frozen=True)
class PageRule:
    """Rule by which a request belongs to the page of the one before it: documented parameters."""

    page_gap_s: float = parameter(
        60.0, "longest time from one request of a page to the next one", unit="s", at_least=0, at_most=MAX_S
    )
    same_server: bool = parameter(True, "embedded objects come from the server of the request before")

    def __post_init__(self) -> None:
        check_all(self, "trace")


def group_requests(
    requests: ClientRequests, clients: tuple[str, ...], rule: PageRule, **facts: Any
) -> Recording:
    """Group requests into pages.

    Parameters
    ----------
    requests : Requests
        The requests of all clients; they are used up.
    clients : tuple of str
        The identifiers of the clients, by the numbers in the requests.
    rule : PageRule
        The rule by which a request belongs to a page.
    **facts
        Further fields of the :class:`Recording`.
    """
    columns: dict[str, list[NDArray[Any]]] = {name: [np.empty(0, kind)] for name, kind in _KINDS.items()}
    span_s = (requests.last_us - requests.first_us) / 1e6
    for rows in requests.buckets():
        main = np.flatnonzero(page_starts(rows, rule))
        columns["client"].append(rows["client"][main])
        columns["think"].append(think_s(rows, main))
        columns["files"].append(np.diff(main, append=rows.size))
        columns["size"].append(rows["size"].copy())
        columns["delay"].append(rows["delay_us"].copy())
    joined = {name: np.concatenate(columns.pop(name)) for name in list(columns)}
    # The rows came bucket by bucket: clients are numbered anew in that order, so that numbers never fall.
    order = sorted(range(len(clients)), key=lambda code: (code % BUCKETS, code))
    rank = np.empty(len(clients), np.int32)
    rank[order] = np.arange(len(clients))
    return Recording(
        clients=tuple(clients[code] for code in order),
        page_client=rank[joined["client"]],
        think_s=joined["think"],
        first=np.append(0, np.cumsum(joined["files"])),
        size=joined["size"],
        delay_us=joined["delay"],
        span_s=span_s,
        **facts,
    )


_KINDS = {"client": np.int32, "think": np.float64, "files": np.int64, "size": np.uint32, "delay": np.int32}


def page_starts(rows: Rows, rule: PageRule) -> NDArray[np.bool_]:
    """Return (n,) whether each request begins a page; *rows* are sorted by client and time."""
    follows: NDArray[np.bool_] = rows["secondary"].copy()
    follows[:1] = False
    follows[1:] &= rows["client"][1:] == rows["client"][:-1]
    follows[1:] &= np.diff(rows["at_us"]) <= round(rule.page_gap_s * 1e6)
    if rule.same_server:
        follows[1:] &= rows["server"][1:] == rows["server"][:-1]
    return ~follows


def think_s(rows: Rows, main: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the think time before each page, NaN for a client's first; *main* are the main objects' rows."""
    think = np.full(main.size, np.nan)
    ended = np.maximum.reduceat(rows["at_us"] + rows["took_us"], main)
    gaps = rows["at_us"][main[1:]] - ended[:-1]
    same = np.flatnonzero(rows["client"][main[1:]] == rows["client"][main[:-1]])
    think[1 + same] = np.maximum(gaps[same], 0) / 1e6
    return think
