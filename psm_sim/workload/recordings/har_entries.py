"""Entries of HAR files, with times, sizes, protocols and initiators.

Files of real tools deviate from the specification. The docstring of each property describes which deviations
the property supports.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import urljoin, urlsplit

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_OBJECT_BYTES
from psm_sim.workload.recordings.recording import UNKNOWN

PHASES = ("blocked", "dns", "connect", "send", "wait", "receive")
"""Phases that add up to the time of an entry; ``connect`` includes ``ssl``."""

_REQUESTING_TYPES = ("html", "javascript", "ecmascript", "css", "json")
_REQUESTING_SUFFIXES = (".html", ".htm", ".js", ".mjs", ".css", ".json")
_MAX_INT = 2**31 - 1  # the arrays have 32 bits


class HarEntry:
    """Entry of a HAR file, which describes a request and its response.

    Durations are in seconds, and 0 if absent. Times are in seconds since the Unix epoch, and NaN if unknown.

    Attributes
    ----------
    start_s, end_s : float
        Times at which the entry begins and ends.
    size, request_bytes : int
        Sizes of the response and of the request, in bytes. ``request_bytes`` can be ``UNKNOWN``.
    is_uncompressed : bool
        Whether ``size`` is the size of the decompressed body.
    tls_s, tcp_s : float
        Durations of the TLS and TCP handshakes.

    Raises
    ------
    InputError
        If ``time`` is negative, but not -1, or a size is too large.
    """

    def __init__(self, json: dict[str, Any]) -> None:
        self._json = json
        self.size, self.is_uncompressed = self._response_bytes()
        self.start_s = epoch_s(json.get("startedDateTime"))
        self.end_s = self.start_s + self._duration_ms() / 1000
        self.request_bytes = self._request_bytes()
        self.tls_s, self.tcp_s = self._handshakes_s()

    def _get(self, path: str, default: Any = None) -> Any:
        """Return the value at *path*, such as ``response.content.size``, or *default* if it is absent."""
        value: Any = self._json
        for key in path.split("."):
            value = value.get(key, default) if isinstance(value, dict) else default
        return value

    def _number(self, path: str, default: Any = None) -> float | None:
        """Return the number at *path*, which can be a string; None if it is absent or not finite."""
        value = self._get(path, default)
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            return None
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return number if math.isfinite(number) else None

    def _positive(self, path: str) -> float:
        """Return the number at *path*, or 0 if it is negative or absent."""
        return max(self._number(path) or 0.0, 0.0)

    def _phase_s(self, phase: str) -> float:
        return self._positive(f"timings.{phase}") / 1000

    @cached_property
    def page(self) -> str:
        """Identifier of the page of the entry."""
        return str(self._get("pageref") or "")

    @cached_property
    def url(self) -> str:
        """URL without fragment."""
        return _without_fragment(self._get("request.url", ""))

    @cached_property
    def host(self) -> str:
        """Scheme and host of the URL."""
        try:
            scheme, host, *_ = urlsplit(self.url.lower())
        except ValueError:
            return self.url
        return f"{scheme}://{host}"

    @cached_property
    def omitted(self) -> str:
        """Reason for omitting the entry, ``"cached"``, ``"failed"`` or ``"other"``; empty for an object.

        Omitted are entries without network traffic (marked as cached, or with a ``data:``, ``blob:`` or
        ``about:`` URL), blocked and failed requests (status 0 or -2), whose response is empty, and WebSockets
        (status 101) and event streams, which do not end.
        """
        if self.url.split(":", 1)[0].lower() in ("data", "blob", "about"):
            return "other"
        fetch = str(self._get("response._fetchType", self._get("_fetchType")))
        if self._get("_fromCache") or self._get("response._fromDiskCache") or "cache" in fetch.lower():
            return "cached"
        content_type = str(self._get("response.content.mimeType", ""))
        if self._number("response.status") == 101 or content_type.startswith("text/event-stream"):
            return "other"
        return "failed" if self.size <= 0 else ""

    @cached_property
    def release_s(self) -> float:
        """Time at which the browser requested the entry.

        In files of Chrome, ``start_s`` is before the time in the queue. In files of WebPagetest, it is the
        time at which the request is sent.
        """
        began, asked = self._number("_load_start"), self._number("_all_start")
        if began is not None and asked is not None:
            return self.start_s - max(began - asked, 0.0) / 1000
        return self.start_s + self._phase_s("_blocked_queueing")

    @cached_property
    def first_s(self) -> float:
        """Time of the first byte of the response."""
        return max(self.end_s - self._phase_s("receive"), self.start_s)

    @cached_property
    def delay_us(self) -> int:
        """Time from the request to the first byte, in microseconds, or ``UNKNOWN``."""
        wait_ms = self._number("timings.wait")
        return UNKNOWN if wait_ms is None or wait_ms < 0 else round(min(wait_ms * 1e3, _MAX_INT))

    @cached_property
    def dns_s(self) -> float:
        """Time of the look-up."""
        return self._phase_s("dns")

    @cached_property
    def multiplexed(self) -> bool | None:
        """Whether the protocol is HTTP/2 or later; None if unknown."""
        name = str(self._get("response.httpVersion") or "").strip().lower()
        if name.startswith(("h2", "http/2", "spdy", "h3", "http/3")) or "quic" in name:
            return True
        return False if name.startswith(("http/1", "1.")) else None

    @cached_property
    def is_pushed(self) -> bool:
        """Whether the server pushed the response without a request."""
        pushed = self._get("_was_pushed", self._get("response._was_pushed", 0))
        return str(pushed).lower() in ("1", "true")

    @cached_property
    def can_request(self) -> bool:
        """Whether the response can cause requests, as a document, script, style sheet, JSON or redirect."""
        status = self._number("response.status") or 0
        if 300 <= status < 400 and status != 304:
            return True
        mime = str(self._get("response.content.mimeType") or "").lower()
        if mime and mime != "x-unknown":
            return any(part in mime for part in _REQUESTING_TYPES)
        if kind := str(self._get("_resourceType") or "").lower():
            return kind in ("document", "script", "stylesheet")
        return self.url.split("?", 1)[0].lower().endswith(_REQUESTING_SUFFIXES)

    @cached_property
    def redirect_url(self) -> str:
        """Absolute URL to which the response redirects; empty if it does not."""
        target = self._get("response.redirectURL")
        try:
            return _without_fragment(urljoin(self.url, target)) if target and isinstance(target, str) else ""
        except ValueError:
            return ""

    @cached_property
    def initiator(self) -> str:
        """URL of the initiator, which is a string or has a ``url``, or else the first URL in its stack."""
        stack = self._get("_initiator")
        if isinstance(stack, str):
            return _without_fragment(stack)
        url, stack = self._get("_initiator.url"), self._get("_initiator.stack")
        while not url and isinstance(stack, dict):
            frames = stack.get("callFrames")
            urls = [f.get("url") for f in frames if isinstance(f, dict)] if isinstance(frames, list) else []
            url, stack = next(filter(None, urls), ""), stack.get("parent")
        return _without_fragment(url or "")

    def _duration_ms(self) -> float:
        """Return the time from start to end.

        Old WebPagetest files have ``_load_start``, and ``startedDateTime`` is after DNS and connect, which
        ``time`` includes. The duration is then ``_load_end - _load_start``. If ``time`` is null or -1
        (unknown), the duration is the sum of the phases, where -1 counts as 0.
        """
        began, ended = self._number("_load_start"), self._number("_load_end")
        if began is not None and ended is not None:
            return max(ended - began, 0.0)
        time_ms = self._number("time")
        if time_ms is None or time_ms == UNKNOWN:
            return sum(self._positive(f"timings.{phase}") for phase in PHASES)
        if time_ms < 0:
            raise InputError(f"time must be at least 0, or -1 if it is unknown, got {time_ms:g}")
        return time_ms

    def _handshakes_s(self) -> tuple[float, float]:
        """Return the durations of the TLS and TCP handshakes.

        ``connect`` includes ``ssl``, except in files of Firefox. These are detected by ``time``, which is
        then the sum of all phases and ``ssl``.
        """
        tls_s, connect_s = self._phase_s("ssl"), self._phase_s("connect")
        rest_s = (self._number("time") or 0.0) / 1000 - sum(map(self._phase_s, PHASES))
        is_outside = tls_s > 0 and abs(rest_s - tls_s) < abs(rest_s)
        connect_ms = self._number("_connect_ms")  # field of WebPagetest, without TLS
        if connect_ms is not None:
            connect_s, is_outside = max(connect_ms, 0.0) / 1000, True
        return tls_s, connect_s if is_outside else max(connect_s - tls_s, 0.0)

    def _response_bytes(self) -> tuple[int, bool]:
        """Return the size of the response, and whether it is the size of the decompressed body.

        The size is the first positive value of ``_transferSize``, ``_bytesIn``, ``bodySize`` (plus
        ``headersSize`` if known) and ``content.size`` (minus ``content.compression`` if known). The values -1
        and 0 mean unknown.
        """
        transferred = self._number("response._transferSize", self._get("_transferSize"))
        body = self._number("response.bodySize")
        sent = None if body is None or body < 0 else body + self._positive("response.headersSize")
        for size in (transferred, self._number("_bytesIn"), sent):
            if size is not None and size > 0:
                return _checked(size, MAX_OBJECT_BYTES, "response"), False
        size = self._positive("response.content.size")
        saved = self._number("response.content.compression")
        compressed = size - (saved or 0.0) if 0 <= (saved or 0.0) < size else size
        return _checked(compressed, MAX_OBJECT_BYTES, "response"), saved is None

    def _request_bytes(self) -> int:
        """Return ``_bytesOut``, else the size of headers and body, else ``UNKNOWN``, in bytes."""
        out = self._number("_bytesOut")
        headers = self._positive("request.headersSize")
        if out is None and headers:
            out = headers + self._positive("request.bodySize")
        return _checked(out, _MAX_INT, "request") if out is not None and out >= 1 else UNKNOWN


def _checked(size: float, maximum: int, kind: str) -> int:
    """Return *size* as an integer. Raise InputError if it exceeds *maximum*."""
    if size > maximum:
        raise InputError(f"the size of the {kind} must be at most {maximum:,} bytes, got {size:g}")
    return round(size)


def _without_fragment(url: Any) -> str:
    return str(url).split("#", 1)[0]


_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s*(Z|[+-]\d\d:?\d\d)?", re.IGNORECASE
)


def epoch_s(text: Any) -> float:
    """Convert a ``startedDateTime`` to seconds since the epoch; NaN if it is invalid.

    The seconds can have any number of decimals. The time zone is Z or an offset with or without a colon. A
    time without a zone is in UTC.
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
