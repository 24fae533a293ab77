"""Reader of HAR files (1.1 and 1.2) from WebPagetest, Chrome, chrome-har and Firefox.

A HAR file is the recording of one client, and its list ``pages`` assigns entries to pages. In a file without
this list, such as a file of Fiddler, a request that starts more than 1 s after the end of all earlier
requests begins a new page (rule of Mah 1997).

The time between two pages is a think time, with three exceptions: the pages overlap, both begin with the same
URL (first and repeat view), or the file comes from a tool whose pages are independent runs. The think time is
then unknown.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_TIME_S
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.har_dependencies import RecordedNetwork, page_graph, remarks
from psm_sim.workload.recordings.har_entries import HarEntry, epoch_s
from psm_sim.workload.recordings.recording import PageRecording

IDLE_S = 1.0
"""Idle time in seconds after which a new page begins, if the file does not list its pages."""
MAX_HAR_BYTES = 512 << 20
"""Limit of the memory: the JSON of a HAR file is read as a whole."""
MAX_BRACKETS = 3_000_000
"""Maximum number of JSON objects and lists. Even if all are empty, this number takes 1 GB of memory."""

RUNNERS = ("webpagetest", "browsertime", "sitespeed", "lighthouse", "chrome-har")
"""Tools whose pages are independent runs, by the name in ``creator`` or ``comment``."""


def is_har(head: bytes) -> bool:
    """Return whether *head*, the start of a file, begins a JSON object, as a HAR file does."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def har_recording(source: ChunkReader) -> PageRecording:
    """Read a HAR file.

    Raises
    ------
    InputError
        If the file is not a HAR file, or if no entry used the network.
    """
    log = read_log(source)
    entries = log_entries(log, source.path)
    pages = _pages(entries, log)
    if not pages:
        raise InputError(f"{source.path} must have at least one entry that used the network, got none.")
    objects = [entry for page in pages for entry in _objects(page)]
    network = RecordedNetwork(objects)
    graphs, kinds = zip(*(page_graph(page, network) for page in pages), strict=True)
    delays_us, low_us = network.server_delays_us(objects)
    start_times_s, session = [entry.start_s for entry in objects], not _has_independent_runs(log)
    think_s = [math.nan] + [_think_s(a, b, session) for a, b in pairwise(map(_objects, pages))]
    return PageRecording(
        format=f"HAR {log.get('version') or ''}".strip(),
        clients=(source.path.name.split(".")[0],),
        page_client=np.zeros(len(pages), dtype=np.int32),
        think_s=np.array(think_s),
        first=np.cumsum([0, *(len(graph.releases) for graph in graphs)]),
        size=np.array([entry.size for entry in objects], dtype=np.uint32),
        delay_us=np.array(delays_us, dtype=np.int32),
        low_delay_us=np.array(low_us, dtype=np.int32),
        request_bytes=np.array([entry.request_bytes for entry in objects], dtype=np.int32),
        records=len(entries),
        span_s=max(start_times_s) - min(start_times_s),
        warnings=(*source.warnings, *remarks(entries, objects, sum(kinds, Counter()), network)),
        graphs=graphs,
    )


def _objects(page: Iterable[HarEntry]) -> list[HarEntry]:
    return [entry for entry in page if not entry.omitted]


def read_log(source: ChunkReader) -> Mapping[str, Any]:
    """Return the ``log`` of a HAR file.

    Raises
    ------
    InputError
        If the file is too large, or is not a HAR file.
    """
    data = bytearray()
    for chunk in source.chunks():
        data += chunk
        if len(data) > MAX_HAR_BYTES:
            raise InputError(
                f"{source.path}: a HAR file must be at most {MAX_HAR_BYTES >> 20} MiB; split it."
            )
    if data.count(b"{") + data.count(b"[") > MAX_BRACKETS:
        raise InputError(
            f"{source.path} has over {MAX_BRACKETS:,} brackets; use a HAR file with fewer entries."
        )
    document = _json(data, source.path)
    log = document.get("log") if isinstance(document, dict) else None
    if not isinstance(log, dict) or not isinstance(log.get("entries"), list):
        raise InputError(f"{source.path} is JSON but not a HAR file; expected a list log.entries.")
    return log


def _json(data: bytearray, path: Path) -> Any:
    """Parse JSON, and empty *data* to limit memory to twice the size of the file."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; expected JSON in UTF-8.") from None
    data.clear()
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{path}, {where}: {error.msg}; expected the JSON of a HAR file.") from None
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError as error:
        problem = f"contains an invalid number ({error})"
    raise InputError(f"{path} {problem}; expected the JSON of a HAR file.")


def log_entries(log: Mapping[str, Any], path: Path) -> list[HarEntry]:
    """Return the entries of a log in the order in which the browser requested them.

    An entry that did not use the network has a reason in ``omitted``. It is not returned if it has no time.
    """
    entries: list[HarEntry] = []
    for index, entry in enumerate(log["entries"]):
        where = f"{path}: log.entries[{index}]"
        if not isinstance(entry, dict):
            raise InputError(f"{where} must be an object, got {str(entry)[:40]!r}.")
        try:
            parsed = HarEntry(entry)
        except InputError as error:
            raise InputError(f"{where}: {error}.") from None
        length_s = parsed.end_s - parsed.start_s  # NaN if a time is unknown
        if length_s <= MAX_TIME_S:
            entries.append(parsed)
        elif not parsed.omitted and math.isnan(length_s):
            shown = str(entry.get("startedDateTime"))[:40]
            raise InputError(f"{where}.startedDateTime must be an ISO 8601 time, got {shown!r}.")
        elif not parsed.omitted:
            raise InputError(f"{where} must take at most {MAX_TIME_S:g} s, got {length_s:g} s.")
    return sorted(entries, key=lambda entry: entry.release_s)


def _pages(entries: Sequence[HarEntry], log: Mapping[str, Any]) -> list[list[HarEntry]]:
    """Return the entries of each page that has objects, ordered by the start of the pages."""
    start_times = {str(page.get("id")): epoch_s(page.get("startedDateTime")) for page in _page_list(log)}
    if not start_times or "webkit" in str(log.get("creator")).lower():  # Safari puts all entries on one page
        return _by_idle_time(entries)
    pages: dict[str, list[HarEntry]] = {}
    for entry in entries:
        pages.setdefault(entry.page, []).append(entry)

    def start_s(page: list[HarEntry]) -> float:
        listed_s = start_times.get(page[0].page, math.nan)
        return page[0].release_s if math.isnan(listed_s) else listed_s

    return sorted(filter(_objects, pages.values()), key=start_s)


def _page_list(log: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    pages = log.get("pages")
    return [page for page in pages if isinstance(page, dict)] if isinstance(pages, list) else []


def _by_idle_time(entries: Iterable[HarEntry]) -> list[list[HarEntry]]:
    pages: list[list[HarEntry]] = []
    done_s = -math.inf
    for entry in entries:
        if entry.release_s > done_s + IDLE_S:
            pages.append([])
        pages[-1].append(entry)
        done_s = max(done_s, entry.end_s)
    return list(filter(_objects, pages))


def _has_independent_runs(log: Mapping[str, Any]) -> bool:
    """Return whether the tool that wrote the file, or a key of a page, marks pages as independent runs."""
    creator, browser = log.get("creator"), log.get("browser")
    creators = " ".join(str(part) for part in (creator, browser, log.get("comment")) if part).lower()
    marks = any(key in page for page in _page_list(log) for key in ("_run", "_cached"))
    return marks or any(runner in creators for runner in RUNNERS)


def _think_s(page: Sequence[HarEntry], next_page: Sequence[HarEntry], session: bool) -> float:
    # Neither a repeat view (same URL) nor another tab (overlap) has a think time before it.
    gap_s = next_page[0].release_s - max(entry.end_s for entry in page)
    # Round because doubles represent seconds since 1970 to a quarter of a microsecond only.
    return round(gap_s, 6) if session and gap_s >= 0 and page[0].url != next_page[0].url else math.nan
