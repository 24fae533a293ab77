"""HAR files, 1.1 and 1.2, of WebPagetest, Chrome, chrome-har and Firefox: a recording of one client.

Pages are those of the file's ``pages``. Where it has none (Fiddler), a request that comes more than 1 s
after all requests before it are done begins a new page (the rule of Mah 1997).
The gap between two pages is think time only if they are one session: not if the file comes from a tool
whose pages are independent runs, nor if two pages begin with the same URL (first and repeat view), nor if
they overlap. Then the think time is unknown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from psm_sim.errors import InputError
from psm_sim.limits import MAX_S
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.har_entry import Entry, epoch_s, read_entry
from psm_sim.workload.recordings.recording import Recording

IDLE_S = 1.0
MAX_BYTES = 512 << 20
MAX_PARTS = 3_000_000
"""Objects and lists: a file of nothing else takes 1 GB of memory."""

RUNNERS = ("webpagetest", "browsertime", "sitespeed", "lighthouse", "chrome-har")
"""Tools whose pages are runs independent of each other, by the name of their ``creator`` or ``comment``."""


def is_har(head: bytes) -> bool:
    """Say whether data that begin with *head* are JSON, as a HAR file is."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def har_recording(source: ChunkReader) -> Recording:
    """Read a HAR file.

    Raises
    ------
    InputError
        If it is no JSON or no HAR, with line and column or the entry; or if nothing in it used the network.
    """
    log = read_log(source)
    entries, skipped = network_entries(log, source.path)
    pages = _pages(entries, log)
    if not pages:
        raise InputError(f"{source.path} has no entry that used the network; expected at least one.")
    session = not _is_of_runs(log)
    think_s = [math.nan] + [_think_s(a, b, session) for a, b in pairwise(pages)]
    objects = [entry for page in pages for entry in page]
    notes = [f"entries that did not use the network are left out: {skipped:,}"] if skipped else []
    return Recording(
        format=f"HAR {log.get('version') or ''}".strip(),
        clients=(source.path.name.split(".")[0],),
        page_client=np.zeros(len(pages), dtype=np.int32),
        think_s=np.array(think_s),
        first=np.cumsum([0, *map(len, pages)]),
        size=np.array([entry.size for entry in objects], dtype=np.uint32),
        delay_us=np.array([entry.delay_us for entry in objects], dtype=np.int32),
        request_bytes=np.array([entry.request_bytes for entry in objects], dtype=np.int32),
        records=len(entries) + skipped,
        span_s=_span_s(objects),
        warnings=(*source.warnings, *notes),
    )


def read_log(source: ChunkReader) -> Mapping[str, Any]:
    """Return the ``log`` of a HAR file, or raise :class:`InputError` that says what is wrong with it."""
    data = bytearray()
    for piece in source.pieces():
        data += piece
        if len(data) > MAX_BYTES:
            raise InputError(f"{source.path} is larger than {MAX_BYTES >> 20} MiB; expected a HAR file.")
    if data.count(b"{") + data.count(b"[") > MAX_PARTS:
        raise InputError(
            f"{source.path} has over {MAX_PARTS:,} brackets; expected a HAR file of fewer entries."
        )
    document = _json(data, source.path)
    log = document.get("log") if isinstance(document, dict) else None
    if not isinstance(log, dict) or not isinstance(log.get("entries"), list):
        raise InputError(f"{source.path} is JSON but no HAR file; expected log.entries, a list.")
    return log


def _json(data: bytearray, path: Path) -> Any:
    """Parse JSON; *data* are emptied on the way, to hold no more than twice the file in memory."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is no UTF-8; expected JSON in UTF-8.") from None
    data.clear()
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{path}, {where}: {error.msg}; expected the JSON of a HAR file.") from None
    except RecursionError:
        what = f"is nested too deep, from character {_deep_at(text)} on"
    except ValueError as error:
        what = f"holds an unusable number ({error})"
    raise InputError(f"{path} {what}; expected the JSON of a HAR file.")


def _deep_at(text: str, deepest: int = 200) -> int:
    """Return the offset at which brackets, also those in strings, are nested deeper than *deepest*."""
    depth = 0
    for offset, character in enumerate(text):
        depth += (character in "[{") - (character in "]}")
        if depth > deepest:
            return offset
    return len(text)


def network_entries(log: Mapping[str, Any], path: Path) -> tuple[list[Entry], int]:
    """Return the entries that used the network, in the order sent, and the number of the others."""
    found: list[Entry] = []
    for index, entry in enumerate(log["entries"]):
        if not isinstance(entry, dict):
            raise InputError(f"{path}: log.entries[{index}] is {str(entry)[:40]!r}; expected an object.")
        read = read_entry(entry)
        if read is None:
            continue
        if math.isnan(read.start_s):
            given = str(entry.get("startedDateTime"))[:40]
            raise InputError(
                f"{path}: log.entries[{index}].startedDateTime is {given!r}; expected an ISO 8601 time."
            )
        if read.end_s - read.start_s > MAX_S:
            raise InputError(
                f"{path}: log.entries[{index}] takes {read.end_s - read.start_s:g} s; "
                f"expected at most {MAX_S:g}."
            )
        found.append(read)
    return sorted(found, key=lambda entry: entry.start_s), len(log["entries"]) - len(found)


def _pages(entries: Sequence[Entry], log: Mapping[str, Any]) -> list[list[Entry]]:
    """Return the entries of each page, pages in the order in which they began."""
    listed = {str(page.get("id")): epoch_s(page.get("startedDateTime")) for page in _page_list(log)}
    if not listed:
        return _by_idle_time(entries)
    pages: dict[str, list[Entry]] = {}
    for entry in entries:
        pages.setdefault(entry.page, []).append(entry)
    return sorted(pages.values(), key=lambda page: _began(page, listed))


def _began(page: Sequence[Entry], listed: Mapping[str, float]) -> float:
    start_s = listed.get(page[0].page, math.nan)
    return page[0].start_s if math.isnan(start_s) else start_s


def _page_list(log: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    pages = log.get("pages")
    return [page for page in pages if isinstance(page, dict)] if isinstance(pages, list) else []


def _by_idle_time(entries: Iterable[Entry]) -> list[list[Entry]]:
    pages: list[list[Entry]] = []
    done_s = -math.inf
    for entry in entries:
        if entry.start_s > done_s + IDLE_S:
            pages.append([])
        pages[-1].append(entry)
        done_s = max(done_s, entry.end_s)
    return pages


def _is_of_runs(log: Mapping[str, Any]) -> bool:
    """Say whether the file's pages are independent runs, by its creator or by marks on its pages."""
    creator, browser = log.get("creator"), log.get("browser")
    words = " ".join(str(part) for part in (creator, browser, log.get("comment")) if part).lower()
    marks = any(key in page for page in _page_list(log) for key in ("_run", "_cached"))
    return marks or any(runner in words for runner in RUNNERS)


def _think_s(page: Sequence[Entry], after: Sequence[Entry], session: bool) -> float:
    # The same URL again is a repeat view, an overlap is another tab: neither gap is a think time.
    gap_s = after[0].start_s - max(entry.end_s for entry in page)
    # Rounded, since seconds since 1970 as doubles are exact to a quarter of a microsecond only.
    return round(gap_s, 6) if session and gap_s >= 0 and page[0].url != after[0].url else math.nan


def _span_s(entries: Sequence[Entry]) -> float:
    return max(entry.start_s for entry in entries) - min(entry.start_s for entry in entries)
