"""Poll: what a station sees when it wakes for a beacon."""

from __future__ import annotations

from typing import NamedTuple


class Poll(NamedTuple):
    """One wake-up for a beacon, as the TIM and the fetched frames show it.

    ``slept_ms`` is the time the radio dozed before it; ``held_bytes`` and ``held_frames`` count what
    the access point held; ``arrivals`` has a pair (offset in ms since the doze began, bytes) for each
    held frame, as the access point stamped it. Bytes include the TCP/IP headers.
    """

    slept_ms: float
    held_bytes: int = 0
    held_frames: int = 0
    arrivals: tuple[tuple[float, int], ...] = ()
