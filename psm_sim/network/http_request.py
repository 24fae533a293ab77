"""HTTP request: what a client asks of the server."""

from __future__ import annotations

from typing import NamedTuple


class Request(NamedTuple):
    """A request for one object: its own size, that of the reply, and the server's thinking time."""

    request_bytes: int
    reply_bytes: int
    server_delay_s: float
