"""Push: a datagram that nobody asked for."""

from __future__ import annotations

from typing import NamedTuple


class Push(NamedTuple):
    """Push: when the server sends it, in seconds since the start, and its bytes, headers included."""

    at_s: float
    bytes: int
