"""Additional energy of transmissions, compared with an awake radio."""

from __future__ import annotations

from collections.abc import Callable

from psm_sim.network.link import Link
from psm_sim.network.observers import Observer
from psm_sim.network.segment import Segment


class TransmissionEnergy(Observer):
    """Observer that charges *extra_w* for the duration of each uplink frame.

    Parameters
    ----------
    extra_w
        Power while transmitting minus power while awake, in watts.
    spend
        Function that charges an energy in joules.
    """

    def __init__(self, extra_w: float, spend: Callable[[float], None]) -> None:
        self._extra_w, self._spend = extra_w, spend

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Charge a frame that the station transmits."""
        if link.name == "wireless up":
            self._spend(self._extra_w * link.air_time_s(segment))
