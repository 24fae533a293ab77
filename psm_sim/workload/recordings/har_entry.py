"""Entries of HAR files, with the times, server delay and sizes of a request.

Real files deviate from the specification. Each function describes the deviations that it handles.
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
