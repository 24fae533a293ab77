"""Observation of a station at a wake-up for a beacon."""

from __future__ import annotations

from dataclasses import dataclass


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
