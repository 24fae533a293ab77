"""Observation of a station at a wake-up for a beacon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Poll:
    """Observation at a beacon: time slept and frames retrieved.

    Attributes
    ----------
    slept_ms : float
        Time for which the radio dozed before the beacon, in ms.
    buffered_bytes, buffered_frames : int
        Bytes and frames that the access point had buffered. Bytes include the TCP/IP headers.
    arrivals : tuple of (float, int)
        For each buffered frame, its arrival at the access point, in ms since the doze began, and its size in
        bytes.
    """

    slept_ms: float
    buffered_bytes: int = 0
    buffered_frames: int = 0
    arrivals: tuple[tuple[float, int], ...] = ()


class _MutablePoll:
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
    """Return a :class:`Poll` in a quarter of the time of its constructor.

    The attributes are assigned before the object becomes a frozen dataclass, which avoids one
    ``object.__setattr__`` call for each field.

    Parameters
    ----------
    slept_ms, buffered_bytes, buffered_frames, arrivals
        See :class:`Poll`.
    """
    poll: Any = _MutablePoll()
    poll.slept_ms, poll.buffered_bytes = slept_ms, buffered_bytes
    poll.buffered_frames, poll.arrivals = buffered_frames, arrivals
    poll.__class__ = Poll
    finished_poll: Poll = poll
    return finished_poll
