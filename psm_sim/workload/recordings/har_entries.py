"""Entries of HAR files: their times, sizes, protocols and initiators.

Real files deviate from the specification. Each function describes the deviations that it handles.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_BYTES
from psm_sim.workload.recordings.recording import UNKNOWN

PHASES = ("blocked", "dns", "connect", "send", "wait", "receive")
"""Phases whose sum is the time of an entry; ``connect`` includes ``ssl``."""

_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s*(Z|[+-]\d\d:?\d\d)?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Entry:
    """Request of a page. Times are in seconds, points in time since the Unix epoch, NaN if unknown.

    Attributes
    ----------
    page, url, host : str
        Page to which it belongs, its URL without fragment, and scheme and host of the URL.
    omitted : str
        Reason why the entry is no object: ``"cached"``, ``"failed"`` or ``"other"``; empty if it is one.
    release_s, start_s, end_s : float
        Time at which the browser asked for it, time at which the entry begins, and end.
    first_s : float
        Time of the first byte of the response.
    delay_us : int
        Time from the request to the first byte, in microseconds, or ``UNKNOWN``.
    size, request_bytes : int
        Bytes of response and request; the latter can be ``UNKNOWN``.
    is_uncompressed : bool
        Whether ``size`` is that of the decompressed body.
    multiplexed : bool or None
        Whether the protocol is HTTP/2 or later; None if unknown.
    dns_s, tls_s, tcp_s : float
        Times of the look-up and of the handshakes; 0 if there were none.
    is_pushed : bool
        Whether the server pushed it, so that it waited for no request.
    can_request : bool
        Whether it is a document, script, style sheet, JSON or redirect, which can request other objects.
    redirect_url, initiator : str
        URL to which it redirects, and URL that requested it; empty if unknown.
    """

    page: str
    url: str
    host: str
    omitted: str
    release_s: float
    start_s: float
    end_s: float
    first_s: float
    delay_us: int
    size: int
    request_bytes: int
    is_uncompressed: bool
    multiplexed: bool | None
    dns_s: float
    tls_s: float
    tcp_s: float
    is_pushed: bool
    can_request: bool
    redirect_url: str
    initiator: str


def read_entry(entry: Mapping[str, Any]) -> Entry:
    """Return the entry."""
    request, response = _mapping(entry.get("request")), _mapping(entry.get("response"))
    timings = _mapping(entry.get("timings"))
    url = str(request.get("url", "")).split("#", 1)[0]
    size, is_uncompressed = _wire_bytes(entry, response)
    start_s, end_s = _interval(entry)
    wait_ms = number(timings.get("wait"))
    is_pushed = str(entry.get("_was_pushed", response.get("_was_pushed", 0))).lower() in ("1", "true")
    redirect_url = response.get("redirectURL")
    dns_s, tls_s, tcp_s = _set_up_s(entry, timings)
    return Entry(
        page=str(entry.get("pageref") or ""),
        url=url,
        host=_host(url),
        omitted=_omission(entry, url, size, response),
        release_s=_release_s(entry, timings, start_s),
        start_s=start_s,
        end_s=end_s,
        first_s=max(end_s - _phase_s(timings, "receive"), start_s),
        delay_us=UNKNOWN if wait_ms is None or wait_ms < 0 else round(min(wait_ms * 1e3, 2**31 - 1)),
        size=size,
        request_bytes=_request_bytes(entry, request),
        is_uncompressed=is_uncompressed,
        multiplexed=_is_multiplexed(response.get("httpVersion")),
        dns_s=dns_s,
        tls_s=tls_s,
        tcp_s=tcp_s,
        is_pushed=is_pushed,
        can_request=_can_request(entry, response, url),
        redirect_url=_join(url, redirect_url),
        initiator=_initiator(entry.get("_initiator")),
    )


def _omission(entry: Mapping[str, Any], url: str, size: int, response: Mapping[str, Any]) -> str:
    """Return why an entry is no object; empty if it is one.

    Entries without network traffic have a ``data:``, ``blob:`` or ``about:`` URL or are marked as cached.
    Blocked or failed requests (status 0 or -2) have an empty response. WebSockets (status 101) and event
    streams have no end.
    """
    content_type = str(_mapping(response.get("content")).get("mimeType", ""))
    if _url_scheme(url) in ("data", "blob", "about"):
        return "other"
    if _is_cached(entry):
        return "cached"
    if number(response.get("status")) == 101 or content_type.startswith("text/event-stream"):
        return "other"
    return "failed" if size <= 0 else ""


def _url_scheme(url: str) -> str:
    return url.split(":", 1)[0].lower()


def _host(url: str) -> str:
    try:
        scheme, host, *_ = urlsplit(url.lower())
    except ValueError:
        return url
    return f"{scheme}://{host}"


def _join(url: str, target: Any) -> str:
    """Return the absolute URL of a redirect, or an empty string."""
    if not isinstance(target, str) or not target:
        return ""
    try:
        return urljoin(url, target).split("#", 1)[0]
    except ValueError:
        return ""


def _phase_s(timings: Mapping[str, Any], phase: str) -> float:
    return max(number(timings.get(phase)) or 0.0, 0.0) / 1000


def _release_s(entry: Mapping[str, Any], timings: Mapping[str, Any], start_s: float) -> float:
    """Return the time at which the browser asked for an entry.

    The tools of Chrome begin an entry before it is queued, WebPagetest when it is sent, after its set-up.
    """
    began, asked = number(entry.get("_load_start")), number(entry.get("_all_start"))
    if began is not None and asked is not None:
        return start_s - max(began - asked, 0.0) / 1000
    return start_s + _phase_s(timings, "_blocked_queueing")


def _set_up_s(entry: Mapping[str, Any], timings: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return the times of the look-up, of the TLS handshake and of the TCP handshake; 0 for none.

    ``connect`` includes ``ssl``, unless the time of the entry is the sum of all phases with it (Firefox).
    """
    tls_s, connect_s = _phase_s(timings, "ssl"), _phase_s(timings, "connect")
    time_s = (number(entry.get("time")) or 0.0) / 1000
    phases_s = sum(_phase_s(timings, phase) for phase in PHASES)
    is_outside = tls_s > 0 and abs(time_s - phases_s - tls_s) < abs(time_s - phases_s)
    connect_ms = number(entry.get("_connect_ms"))  # of WebPagetest, without TLS
    if connect_ms is not None:
        connect_s, is_outside = max(connect_ms, 0.0) / 1000, True
    tcp_s = connect_s if is_outside else max(connect_s - tls_s, 0.0)
    return _phase_s(timings, "dns"), tls_s, tcp_s


def _is_multiplexed(version: Any) -> bool | None:
    name = str(version or "").strip().lower()
    if name.startswith(("h2", "http/2", "spdy", "h3", "http/3")) or "quic" in name:
        return True
    return False if name.startswith(("http/1", "1.")) else None


_REQUESTING_TYPES = ("html", "javascript", "ecmascript", "css", "json")
_REQUESTING_SUFFIXES = (".html", ".htm", ".js", ".mjs", ".css", ".json")


def _can_request(entry: Mapping[str, Any], response: Mapping[str, Any], url: str) -> bool:
    status = number(response.get("status")) or 0
    if 300 <= status < 400 and status != 304:
        return True
    mime = str(_mapping(response.get("content")).get("mimeType") or "").lower()
    kind = str(entry.get("_resourceType") or "").lower()
    if mime and mime != "x-unknown":
        return any(part in mime for part in _REQUESTING_TYPES)
    if kind:
        return kind in ("document", "script", "stylesheet")
    return url.split("?", 1)[0].lower().endswith(_REQUESTING_SUFFIXES)


def _initiator(value: Any) -> str:
    """Return the URL of an initiator: text, a ``url``, or the first one in its stack or in its parents."""
    if isinstance(value, str):
        return value.split("#", 1)[0]
    initiator = _mapping(value)
    url, stack = initiator.get("url"), _mapping(initiator.get("stack"))
    while not url and stack:
        frames = stack.get("callFrames")
        frames = frames if isinstance(frames, list) else []
        url = next((frame["url"] for frame in map(_mapping, frames) if frame.get("url")), "")
        stack = _mapping(stack.get("parent"))
    return str(url or "").split("#", 1)[0]


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
    ``time`` includes them. Its duration is then ``_load_end - _load_start``. A ``time`` that is null or -1
    (unknown) is replaced by the sum of the phases, where -1 counts as 0.

    Raises
    ------
    InputError
        If the ``time`` is any other negative number.
    """
    start_s = epoch_s(entry.get("startedDateTime"))
    began, ended = number(entry.get("_load_start")), number(entry.get("_load_end"))
    if began is not None and ended is not None:
        return start_s, start_s + max(ended - began, 0.0) / 1000
    time_ms = number(entry.get("time"))
    if time_ms is not None and time_ms < 0 and time_ms != UNKNOWN:
        raise InputError(f"time must be at least 0, or -1 if it is unknown, got {time_ms:g}")
    if time_ms is None or time_ms == UNKNOWN:
        timings = _mapping(entry.get("timings"))
        time_ms = sum(max(number(timings.get(phase)) or 0.0, 0.0) for phase in PHASES)
    return start_s, start_s + time_ms / 1000


def _wire_bytes(entry: Mapping[str, Any], response: Mapping[str, Any]) -> tuple[int, bool]:
    """Return the size of the response on the wire, and whether it is that of the decompressed body.

    The size is the first field with a positive value. The order is ``_transferSize``, ``_bytesIn``,
    ``bodySize`` (plus ``headersSize`` if known), and ``content.size``, from which ``content.compression`` is
    subtracted if it is known. The values -1 and 0 mean unknown.
    """
    transfer = response.get("_transferSize", entry.get("_transferSize"))
    body, headers = number(response.get("bodySize")), number(response.get("headersSize"))
    sent = None if body is None or body < 0 else body + max(headers or 0.0, 0.0)
    content = _mapping(response.get("content"))
    for size in (number(transfer), number(entry.get("_bytesIn")), sent):
        if size is not None and size > 0:
            return _checked(size, MAX_BYTES, "response"), False
    size, saved = number(content.get("size")) or 0.0, number(content.get("compression"))
    compressed = size - (saved or 0.0) if 0 <= (saved or 0.0) < size else size
    return _checked(max(compressed, 0.0), MAX_BYTES, "response"), saved is None


def _request_bytes(entry: Mapping[str, Any], request: Mapping[str, Any]) -> int:
    """Return ``_bytesOut``, else the size of headers and body, else ``UNKNOWN``."""
    out = number(entry.get("_bytesOut"))
    headers, body = number(request.get("headersSize")), number(request.get("bodySize"))
    if out is None and headers is not None and headers > 0:
        out = headers + max(body or 0.0, 0.0)
    return _checked(out, _MAX_REQUEST_BYTES, "request") if out is not None and out >= 1 else UNKNOWN


_MAX_REQUEST_BYTES = 2**31 - 1


def _checked(size: float, maximum: int, kind: str) -> int:
    """Return *size* as an integer; reject a size that no connection can carry."""
    if size > maximum:
        raise InputError(f"the size of the {kind} must be at most {maximum:,} bytes, got {size:g}")
    return round(size)


def _is_cached(entry: Mapping[str, Any]) -> bool:
    response = _mapping(entry.get("response"))
    fetch = response.get("_fetchType", entry.get("_fetchType"))
    return bool(entry.get("_fromCache") or response.get("_fromDiskCache")) or "cache" in str(fetch).lower()


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
