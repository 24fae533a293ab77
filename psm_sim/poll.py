"""Poll: what a station sees when it wakes for a beacon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Poll:
    """One wake-up for a beacon, as the TIM and the fetched frames show it.

    ``slept_ms`` is the time the radio dozed before it; ``buffered_bytes`` and ``buffered_frames`` count what
    the access point held; ``arrivals`` has a pair (offset in ms since the doze began, bytes) for each
    held frame, as the access point stamped it. Bytes include the TCP/IP headers.
    """

    slept_ms: float
    buffered_bytes: int = 0
    buffered_frames: int = 0
    arrivals: tuple[tuple[float, int], ...] = ()


class _Open:
    __slots__ = ("arrivals", "buffered_bytes", "buffered_frames", "slept_ms")

    slept_ms: float
    buffered_bytes: int
    buffered_frames: int
    arrivals: tuple[tuple[float, int], ...]


def make_poll(
    slept_ms: float,
    buffered_bytes: int = 0,
    buffered_frames: int = 0,
    arrivals: tuple[tuple[float, int], ...] = (),
) -> Poll:
    """Return a poll, filled in before it is frozen: its class would take four times as long.

    Parameters
    ----------
    slept_ms, buffered_bytes, buffered_frames, arrivals
        As for :class:`Poll`.
    """
    poll: Any = _Open()
    poll.slept_ms, poll.buffered_bytes = slept_ms, buffered_bytes
    poll.buffered_frames, poll.arrivals = buffered_frames, arrivals
    poll.__class__ = Poll
    frozen: Poll = poll
    return frozen
