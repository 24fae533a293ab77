"""Observation of a station at a wake-up for a beacon, and its context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psm_sim.common.array_types import FloatArray


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


@dataclass(frozen=True, slots=True)
class Context:
    """Power and outstanding requests of a station during a doze or a page, for losses that accept a context.

    Attributes
    ----------
    awake_w, asleep_w : float
        Power of the radio, in watts.
    beacon_j : float
        Additional energy to receive a beacon, in joules.
    beacon_ms : float
        Beacon interval, in ms.
    outstanding : int
        Number of connections that waited for a reply during the doze.
    waited_ms : float
        Time for which requests have been outstanding at the end of the doze, in ms; 0 if there are none.
    delays_ms : ndarray, shape (n,), or float
        Estimated delay that each candidate polling time would have added to the page, in ms; 0 for a doze.
    elapsed_ms : float
        Estimated time of the page without power saving, in ms; 0 for a doze.
    """

    awake_w: float = 0.75
    asleep_w: float = 0.05
    beacon_j: float = 0.0015
    beacon_ms: float = 100.0
    outstanding: int = 0
    waited_ms: float = 0.0
    delays_ms: FloatArray | float = 0.0
    elapsed_ms: float = 0.0
