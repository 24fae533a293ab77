"""Reader of HAR files (1.1 and 1.2) from WebPagetest, Chrome, chrome-har and Firefox.

A HAR file is the recording of one client. Its pages are those in ``pages``. Files of Fiddler have no pages.
In such a file, a request that starts more than 1 s after the end of all earlier ones begins a new page (rule
of Mah 1997).

The gap between two pages is a think time only within a session. The think time is unknown in three cases.
The pages overlap, both begin with the same URL (first and repeat view), or the file comes from a tool whose
pages are independent runs.

Real files deviate from the specification. Each function describes the deviations that it handles.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_S
from psm_sim.workload.recordings.chunk_reader import ChunkReader
from psm_sim.workload.recordings.recording import UNKNOWN, Recording

IDLE_S = 1.0
MAX_BYTES = 512 << 20
MAX_BRACKETS = 3_000_000
"""Maximum number of objects and lists. That many empty ones take 1 GB of memory."""

RUNNERS = ("webpagetest", "browsertime", "sitespeed", "lighthouse", "chrome-har")
"""Tools whose pages are independent runs, by the name in ``creator`` or ``comment``."""


def is_har(head: bytes) -> bool:
    """Return whether data that start with *head* are a JSON object, like a HAR file."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def har_recording(source: ChunkReader) -> Recording:
    """Read a HAR file.

    Raises
    ------
    InputError
        If the file is not a HAR file, or if no entry used the network. The message names the position.
    """
    log = read_log(source)
    entries, skipped = network_entries(log, source.path)
    pages = _pages(entries, log)
    if not pages:
        raise InputError(f"{source.path} must have at least one entry that used the network, got none.")
    session = not _has_independent_runs(log)
    think_s = [math.nan] + [_think_s(a, b, session) for a, b in pairwise(pages)]
    objects = [entry for page in pages for entry in page]
    notes = [f"entries omitted because they did not use the network: {skipped:,}"] if skipped else []
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
    """Return the ``log`` of a HAR file.

    Raises
    ------
    InputError
        If the file is too large, or is not a HAR file.
    """
    data = bytearray()
    for chunk in source.chunks():
        data += chunk
        if len(data) > MAX_BYTES:
            raise InputError(f"{source.path}: a HAR file must be at most {MAX_BYTES >> 20} MiB; split it.")
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
    """Parse JSON. *data* is emptied to limit memory to twice the size of the file."""
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
        problem = f"is nested too deeply from character {_too_deep_at(text)} on"
    except ValueError as error:
        problem = f"contains an invalid number ({error})"
    raise InputError(f"{path} {problem}; expected the JSON of a HAR file.")


def _too_deep_at(text: str, deepest: int = 200) -> int:
    """Return the offset at which brackets (also in strings) are nested deeper than *deepest*."""
    depth = 0
    for offset, character in enumerate(text):
        depth += (character in "[{") - (character in "]}")
        if depth > deepest:
            return offset
    return len(text)


def network_entries(log: Mapping[str, Any], path: Path) -> tuple[list[Entry], int]:
    """Return the entries that used the network, in the order sent, and the number of the others."""
    used: list[Entry] = []
    for index, entry in enumerate(log["entries"]):
        if not isinstance(entry, dict):
            raise InputError(f"{path}: log.entries[{index}] must be an object, got {str(entry)[:40]!r}.")
        parsed = read_entry(entry)
        if parsed is None:
            continue
        if math.isnan(parsed.start_s):
            shown = str(entry.get("startedDateTime"))[:40]
            raise InputError(
                f"{path}: log.entries[{index}].startedDateTime must be an ISO 8601 time, got {shown!r}."
            )
        if parsed.end_s - parsed.start_s > MAX_S:
            raise InputError(
                f"{path}: log.entries[{index}] must take at most {MAX_S:g} s, "
                f"got {parsed.end_s - parsed.start_s:g} s."
            )
        used.append(parsed)
    return sorted(used, key=lambda entry: entry.start_s), len(log["entries"]) - len(used)


def _pages(entries: Sequence[Entry], log: Mapping[str, Any]) -> list[list[Entry]]:
    """Return the entries of each page, with the pages ordered by start."""
    start_times = {str(page.get("id")): epoch_s(page.get("startedDateTime")) for page in _page_list(log)}
    if not start_times:
        return _by_idle_time(entries)
    pages: dict[str, list[Entry]] = {}
    for entry in entries:
        pages.setdefault(entry.page, []).append(entry)
    return sorted(pages.values(), key=lambda page: _page_start_s(page, start_times))


def _page_start_s(page: Sequence[Entry], start_times: Mapping[str, float]) -> float:
    start_s = start_times.get(page[0].page, math.nan)
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


def _has_independent_runs(log: Mapping[str, Any]) -> bool:
    """Return whether the pages are independent runs, according to the creator or keys of the pages."""
    creator, browser = log.get("creator"), log.get("browser")
    creators = " ".join(str(part) for part in (creator, browser, log.get("comment")) if part).lower()
    marks = any(key in page for page in _page_list(log) for key in ("_run", "_cached"))
    return marks or any(runner in creators for runner in RUNNERS)


def _think_s(page: Sequence[Entry], next_page: Sequence[Entry], session: bool) -> float:
    # Neither a repeat view (same URL) nor another tab (overlap) has a think time before it.
    gap_s = next_page[0].start_s - max(entry.end_s for entry in page)
    # Round because doubles represent seconds since 1970 to a quarter of a microsecond only.
    return round(gap_s, 6) if session and gap_s >= 0 and page[0].url != next_page[0].url else math.nan


def _span_s(entries: Sequence[Entry]) -> float:
    return max(entry.start_s for entry in entries) - min(entry.start_s for entry in entries)


PHASES = ("blocked", "dns", "connect", "send", "wait", "receive")
"""Phases whose sum is the time of an entry; ``connect`` includes ``ssl``."""

_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s*(Z|[+-]\d\d:?\d\d)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Entry:
    """Request of a page. Times are in seconds since the Unix epoch, NaN if unknown."""

    page: str
    start_s: float
    end_s: float
    delay_us: int
    size: int
    request_bytes: int
    url: str


def read_entry(entry: Mapping[str, Any]) -> Entry | None:
    """Return the entry, or None if it did not use the network.

    Entries without network traffic have a ``data:``, ``blob:`` or ``about:`` URL or are marked as cached.
    Blocked or failed requests (status 0 or -2) have an empty response.
    """
    request, response = _mapping(entry.get("request")), _mapping(entry.get("response"))
    url = str(request.get("url", ""))
    size = _wire_bytes(entry, response)
    if url.split(":", 1)[0].lower() in ("data", "blob", "about") or _is_cached(entry) or size <= 0:
        return None
    start_s, end_s = _interval(entry)
    wait_ms = number(_mapping(entry.get("timings")).get("wait"))
    return Entry(
        str(entry.get("pageref") or ""),
        start_s,
        end_s,
        UNKNOWN if wait_ms is None or wait_ms < 0 else round(min(wait_ms * 1e3, 2**31 - 1)),
        size,
        _request_bytes(entry, request),
        url,
    )


def number(value: Any) -> float | None:
    """Convert a number or numeric string to float; None if it is neither or not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        converted = float(value)
    except (ValueError, OverflowError):
        return None
    return converted if math.isfinite(converted) else None


def epoch_s(text: Any) -> float:
    """Convert a ``startedDateTime`` to seconds since the epoch; NaN if it is invalid.

    The seconds can have any number of decimals. The zone is Z, an offset with or without a colon, or UTC if
    it is missing.
    """
    match = _ISO.fullmatch(text.strip()) if isinstance(text, str) else None
    if not match:
        return math.nan
    seconds, fraction, zone = match.groups()
    zone = "+00:00" if zone in (None, "Z", "z") else zone
    try:
        return datetime.fromisoformat(seconds + zone).timestamp() + float(f"0.{fraction or 0}")
    except (ValueError, OverflowError):
        return math.nan


def _interval(entry: Mapping[str, Any]) -> tuple[float, float]:
    """Return the start and end of an entry.

    In old WebPagetest files, which have ``_load_start``, an entry starts after DNS and connect, but its
    ``time`` includes them. Its duration is then ``_load_end - _load_start``. A ``time`` that is null or
    negative is replaced by the sum of the phases, where -1 counts as 0.
    """
    start_s = epoch_s(entry.get("startedDateTime"))
    began, ended = number(entry.get("_load_start")), number(entry.get("_load_end"))
    if began is not None and ended is not None:
        return start_s, start_s + max(ended - began, 0.0) / 1000
    time_ms = number(entry.get("time"))
    if time_ms is None or time_ms < 0:
        timings = _mapping(entry.get("timings"))
        time_ms = sum(max(number(timings.get(phase)) or 0.0, 0.0) for phase in PHASES)
    return start_s, start_s + time_ms / 1000


def _wire_bytes(entry: Mapping[str, Any], response: Mapping[str, Any]) -> int:
    """Return the size of the response on the wire, from the first field with a positive value.

    The order is ``_transferSize``, ``_bytesIn``, ``bodySize`` (plus ``headersSize`` if known) and
    ``content.size``, the size of the decompressed body. The values -1 and 0 mean unknown.
    """
    transfer = response.get("_transferSize", entry.get("_transferSize"))
    body, headers = number(response.get("bodySize")), number(response.get("headersSize"))
    sent = None if body is None or body < 0 else body + max(headers or 0.0, 0.0)
    content = _mapping(response.get("content")).get("size")
    for size in (number(transfer), number(entry.get("_bytesIn")), sent, number(content)):
        if size is not None and size > 0:
            return round(min(size, 2**32 - 1))
    return 0


def _request_bytes(entry: Mapping[str, Any], request: Mapping[str, Any]) -> int:
    """Return ``_bytesOut``, else the size of headers and body, else ``UNKNOWN``."""
    out = number(entry.get("_bytesOut"))
    headers, body = number(request.get("headersSize")), number(request.get("bodySize"))
    if out is None and headers is not None and headers > 0:
        out = headers + max(body or 0.0, 0.0)
    return round(min(out, 2**31 - 1)) if out is not None and out >= 1 else UNKNOWN


def _is_cached(entry: Mapping[str, Any]) -> bool:
    return bool(entry.get("_fromCache")) or bool(_mapping(entry.get("response")).get("_fromDiskCache"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
