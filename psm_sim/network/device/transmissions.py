"""Transmissions: the energy that sending takes beyond that of an awake radio."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.network.link import Link
from psm_sim.network.observers.observer import Observer
from psm_sim.network.segment import Segment


class Transmissions(Observer):
    """Transmissions of the station: each frame on the uplink costs *more_w* for its time on the air.

    Parameters
    ----------
    more_w
        Power while it transmits, less that of an awake radio, in watts.
    spend
        Takes the joules.
    """

    def __init__(self, more_w: float, spend: Callable[[float], None]) -> None:
        self._more_w, self._spend = more_w, spend

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Charge a frame that the station sends."""
        if link.name == "wireless up":
            self._spend(self._more_w * link.air_time_s(segment))
