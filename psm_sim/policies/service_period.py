"""Service periods: the rules by which an access point serves a station that it does not keep awake."""

from __future__ import annotations

from math import inf
from typing import NamedTuple


class ServicePeriod(NamedTuple):
    """Service periods of one station: without one, frames that are held are fetched all at once.

    Attributes
    ----------
    interval_s : float or None
        The time from one agreed period to the next, in seconds (TWT: the station hears no beacons); None:
        the station itself asks for each period (U-APSD), when it sends or a beacon names it.
    duration_s : float
        The longest period, in seconds: what does not fit waits for the next.
    frames : int
        The most frames in a period; 0: all.
    asks : bool
        Whether the station must send a null frame before it gets anything (a trigger, or an announcement).
    overhead_s : float
        Time awake around each agreed period, in seconds.
    uplink_waits : bool
        Whether the station sends in agreed periods only.
    """

    interval_s: float | None = None
    duration_s: float = inf
    frames: int = 0
    asks: bool = True
    overhead_s: float = 0.0
    uplink_waits: bool = False
