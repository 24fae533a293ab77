"""U-APSD: delivery in service periods that the station triggers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.common.parameters import parameter
from psm_sim.policies.base import ServicePeriod
from psm_sim.policies.psm import Psm


@dataclass
class Uapsd(Psm):
    """Policy that retrieves buffered frames in triggered service periods (U-APSD).

    This is unscheduled automatic power-save delivery (WMM-PS; IEEE 802.11-2020, 11.2.3.5). All access
    categories are trigger- and delivery-enabled. The station dozes when the link is idle. Each frame sent
    triggers a service period of at most ``max_sp`` buffered frames. The last frame of a period has EOSP = 1.
    The station then dozes, or triggers again at once if more frames are buffered. If a beacon has its TIM bit
    set, the station sends a null data frame as the trigger. A frame that reaches the access point after the
    last frame of a period stays buffered, even if the station is still awake.
    """

    name: ClassVar[str] = "uapsd"

    max_sp: int = parameter(
        0, "maximum number of frames in a service period: 2, 4, 6, or 0 for all", at_least=0, at_most=6
    )

    @property
    def service(self) -> ServicePeriod:
        """Rules of the service periods."""
        return ServicePeriod(frames=self.max_sp)
