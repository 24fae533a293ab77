"""HAR entry: when a request was sent and done, how long the server took, how many bytes moved.

Real files differ from the format's text; each function says how, and how it treats them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psm_sim.workload.recordings.recording import UNKNOWN

PHASES = ("blocked", "dns", "connect", "send", "wait", "receive")
"""The phases that add up to an entry's time; ``ssl`` is inside ``connect``."""

_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s*(Z|[+-]\d\d:?\d\d)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One request of a page; times in seconds since the Unix epoch, NaN if the file has none."""

    page: str
    start_s: float
    end_s: float
    delay_us: int
    size: int
    request_bytes: int
    url: str


def read_entry(entry: Mapping[str, Any]) -> Entry | None:
    """Return the entry, or None if nothing of it crossed the network.

    Nothing did for ``data:``, ``blob:`` and ``about:`` URLs, for entries that a browser marks as from its
    cache, and for requests without a byte of an answer (blocked or failed, status 0 or -2).
    """
    request, response = _mapping(entry.get("request")), _mapping(entry.get("response"))
    url = str(request.get("url", ""))
    size = _wire_bytes(entry, response)
    if url.split(":", 1)[0].lower() in ("data", "blob", "about") or _cached(entry) or size <= 0:
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
    """Return a finite number, also one written as a string; else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def epoch_s(text: Any) -> float:
    """Return a ``startedDateTime`` in seconds since the epoch, NaN if it is none.

    Any number of decimals, Z or an offset with or without a colon; without either it is taken as UTC.
    """
    found = _ISO.fullmatch(text.strip()) if isinstance(text, str) else None
    if not found:
        return math.nan
    whole, fraction, zone = found.groups()
    zone = "+00:00" if zone in (None, "Z", "z") else zone
    try:
        return datetime.fromisoformat(whole + zone).timestamp() + float(f"0.{fraction or 0}")
    except (ValueError, OverflowError):
        return math.nan


def _interval(entry: Mapping[str, Any]) -> tuple[float, float]:
    """Return start and end.

    Old WebPagetest files date an entry when it was sent, after DNS and connect, yet its ``time`` includes
    them; they are known by ``_load_start``, and then ``_load_end - _load_start`` is what follows.
    A ``time`` of null or less than 0 is replaced by the sum of the phases, -1 counting nothing.
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
    """Return the response's bytes on the wire, from the first source that has them.

    In this order: ``_transferSize``, ``_bytesIn``, ``bodySize`` with ``headersSize`` if that is known, and
    ``content.size``, the body uncompressed; -1 and 0 mean that a source does not have them.
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
    """Return the request's bytes, or ``UNKNOWN``: ``_bytesOut``, else headers and body."""
    out = number(entry.get("_bytesOut"))
    headers, body = number(request.get("headersSize")), number(request.get("bodySize"))
    if out is None and headers is not None and headers > 0:
        out = headers + max(body or 0.0, 0.0)
    return round(min(out, 2**31 - 1)) if out is not None and out >= 1 else UNKNOWN


def _cached(entry: Mapping[str, Any]) -> bool:
    return bool(entry.get("_fromCache")) or bool(_mapping(entry.get("response")).get("_fromDiskCache"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
