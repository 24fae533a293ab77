"""Rules of the service periods of U-APSD and TWT."""

from __future__ import annotations

from math import inf
from typing import NamedTuple


class ServicePeriod(NamedTuple):
    """Rules by which an access point delivers buffered frames in service periods.

    A station without service periods retrieves all buffered frames at once.

    Attributes
    ----------
    interval_s : float or None
        Wake interval in seconds (TWT, where the station receives no beacons); None if the station requests
        each period with an uplink frame or after a beacon with its TIM bit set (U-APSD).
    duration_s : float
        Maximum length of a period, in seconds. Frames that do not fit wait for the next period.
    frames : int
        Maximum number of frames in a period; 0 disables the limit.
    asks : bool
        Whether the station must send a null data frame first, as a trigger or an announcement.
    overhead_s : float
        Time awake around each scheduled period, in seconds.
    uplink_waits : bool
        Whether the station sends in scheduled periods only.
    """

    interval_s: float | None = None
    duration_s: float = inf
    frames: int = 0
    asks: bool = True
    overhead_s: float = 0.0
    uplink_waits: bool = False
