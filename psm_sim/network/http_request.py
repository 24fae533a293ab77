"""HTTP request."""

from __future__ import annotations

from typing import NamedTuple


class Request(NamedTuple):
    """HTTP request for one object: sizes of request and reply, and delay of the server."""

    request_bytes: int
    reply_bytes: int
    server_delay_s: float
