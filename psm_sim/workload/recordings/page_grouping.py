"""Requests of many clients, and their grouping into page views.

Requests are grouped in the order in which they were sent, by the rule of Ford's SST client. A request for an
image, sound or Java class belongs to the page of the client's previous request, if that request was sent to
the same server at most 60 s before. Any other request begins a new page.

The think time is the time from the last byte of a page to the first request of the next page. If that request
comes before the last byte, the think time is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.parameters import SECONDS, check_all, parameter
from psm_sim.workload.recordings.recording import PageRecording

Rows = NDArray[np.void]


@dataclass(frozen=True)
class PageRule:
    """Parameters for grouping requests into pages."""

    page_gap_s: float = parameter(
        60.0, "maximum interval between two requests of a page", **SECONDS, at_least=0
    )
    same_server: bool = parameter(True, "embedded objects come from the server of the previous request")

    def __post_init__(self) -> None:
        check_all(self, "trace")


REQUEST_DTYPE = np.dtype(
    [
        ("client", np.uint32),
        ("server", np.uint32),
        ("at_us", np.int64),
        ("took_us", np.uint32),
        ("delay_us", np.int32),
        ("size", np.uint32),
        ("secondary", np.bool_),
    ]
)
"""Fields of a request.

``client`` and ``server`` are indices. In microseconds, ``at_us`` is the time of the request, ``took_us`` the
time until the last byte, and ``delay_us`` the server delay or -1. ``size`` is the number of bytes of the
response. ``secondary`` is True for an embedded object.
"""


class Requests(NamedTuple):
    """Requests of a file.

    Attributes
    ----------
    format : str
        Description of the file format.
    rows : ndarray of REQUEST_DTYPE, shape (n,)
        Requests sorted by client and time. Requests with equal times are in the order of the file.
    clients : tuple of str
        Identifier of each client, by its index in the requests.
    records : int
        Number of records in the file.
    warnings : tuple of str
        Problems in the file that are not fatal.
    """

    format: str
    rows: Rows
    clients: tuple[str, ...]
    records: int
    warnings: tuple[str, ...]


def group_requests(requests: Requests, rule: PageRule) -> PageRecording:
    """Group requests into pages."""
    rows = requests.rows
    at_us, same_client = rows["at_us"], np.diff(rows["client"]) == 0
    follows = rows["secondary"][1:] & same_client & (np.diff(at_us) <= round(rule.page_gap_s * 1e6))
    if rule.same_server:
        follows &= np.diff(rows["server"]) == 0
    first = np.flatnonzero(np.append(True, ~follows)[: rows.size])
    think_s = np.full(first.size, np.nan)
    if first.size:
        gaps_us = at_us[first[1:]] - np.maximum.reduceat(at_us + rows["took_us"], first)[:-1]
        think_s[1:] = np.where(same_client[first[1:] - 1], np.maximum(gaps_us, 0) / 1e6, np.nan)
    return PageRecording(
        format=requests.format,
        clients=requests.clients,
        page_client=rows["client"][first].astype(np.int32),
        think_s=think_s,
        first=np.append(first, rows.size),
        size=rows["size"],
        delay_us=rows["delay_us"],
        records=requests.records,
        span_s=float(np.ptp(at_us)) / 1e6 if rows.size else 0.0,
        warnings=requests.warnings,
    )
