"""Reader of BU-Web-Client logs.

The logs were written by an instrumented Mosaic at Boston University in 1994 and 1995. A log has one line per
request, ``machine time user "URL" size seconds``. The time is a Unix time, the size includes protocol
overhead, and the seconds are the retrieval time. Size 0 and 0.0 s mean that the browser's cache answered, so
the line is omitted. The archive has one file per session. Concatenated files are read as well.

Source: C. A. Cunha, A. Bestavros, M. E. Crovella, Characteristics of WWW client traces, BU TR-95-010, 1995.
"""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.workload.recordings.chunk_reader import ChunkReader, lines_of
from psm_sim.workload.recordings.page_grouping import (
    ClientRequests,
    PageRule,
    group_requests,
    suffix_is_secondary,
)
from psm_sim.workload.recordings.recording import UNKNOWN, Recording

_NUMBER = rb"(\d{1,12}(?:\.\d{1,12})?)"
_LINE = re.compile(rb"(\S+) " + _NUMBER + rb' (\S+) "(.*)" (\d{1,12}) ' + _NUMBER + rb"\s*")
_BATCH = 20_000


class _Row(NamedTuple):
    """Request, with the columns of :data:`~psm_sim.workload.recordings.page_grouping.ROW`."""

    client: int
    server: int
    at_us: int
    took_us: int
    delay_us: int
    size: int
    secondary: bool


def is_bu(head: bytes) -> bool:
    """Return whether data that start with *head* are a BU-Web-Client log."""
    return bool(_LINE.fullmatch(head.split(b"\n", 1)[0]))


def bu_recording(source: ChunkReader, rule: PageRule) -> Recording:
    """Read a log and group its requests into pages. Each user is a client.

    The server delays are unknown, because they were not logged.

    Raises
    ------
    InputError
        If a line is not a request. The message names the line.
    """
    with ClientRequests() as requests:
        clients, records = collect(requests, source)
        notes = tuple(source.warnings)
        return group_requests(
            requests, clients, rule, format="BU-Web-Client log", records=records, warnings=notes
        )


def collect(requests: ClientRequests, source: ChunkReader) -> tuple[tuple[str, ...], int]:
    """Add all requests that used the network to *requests*.

    Return the names of the clients and the number of lines.
    """
    clients, rows, records = dict[bytes, int](), list[_Row](), 0
    for number, line in lines_of(source):
        if not line.strip():
            continue
        records += 1
        row = _row(line, clients)
        if row is None:
            shown = repr(line[:60])
            expected = 'machine time user "URL" size seconds'
            raise InputError(f"{source.path}, line {number}: expected {expected}, got {shown}.")
        if row.size:
            rows.append(row)
        if len(rows) == _BATCH:
            _flush(requests, rows)
    _flush(requests, rows)
    return tuple(name.decode("latin-1") for name in clients), records


def _row(line: bytes, clients: dict[bytes, int]) -> _Row | None:
    match = _LINE.fullmatch(line)
    if not match:
        return None
    _, time, user, url, size, seconds = match.groups()
    host, suffix = _host_and_suffix(url.decode("latin-1"))
    return _Row(
        clients.setdefault(user, len(clients)),
        zlib.crc32(host.encode()),  # only the equality of hosts matters to the grouping into pages
        round(float(time) * 1e6),
        min(round(float(seconds) * 1e6), 2**32 - 1),
        UNKNOWN,
        min(int(size), 2**32 - 1),
        suffix_is_secondary(suffix),
    )


def _host_and_suffix(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url, ""
    name = parts.path.rsplit("/", 1)[-1]
    return parts.netloc.lower(), name[name.rfind(".") :] if "." in name else ""


def _flush(requests: ClientRequests, rows: list[_Row]) -> None:
    if rows:
        columns = zip(*rows, strict=True)
        requests.extend(**{name: np.array(c) for name, c in zip(_Row._fields, columns, strict=True)})
        rows.clear()
