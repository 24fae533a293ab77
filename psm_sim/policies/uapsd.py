"""U-APSD: frames are delivered in service periods that the station asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from psm_sim.parameters import check_all, parameter
from psm_sim.policies.psm import Psm
from psm_sim.policies.service_period import ServicePeriod


@dataclass
class Uapsd(Psm):
    """Doze when the link is idle; each frame sent begins a service period of at most ``max_sp`` held frames.

    Unscheduled automatic power-save delivery (WMM-PS; IEEE 802.11-2020, 11.2.3.5): all access categories
    trigger and deliver. The last frame of a period says that it is over (EOSP), and the station dozes; if
    more is held it triggers again at once. A beacon that names it makes it send a null frame as a trigger.
    What comes after the last frame of a period waits, though the station may still be awake to send.
    """

    name: ClassVar[str] = "uapsd"

    max_sp: int = parameter(0, "most frames in a service period: 2, 4 or 6; 0: all", at_least=0, at_most=6)

    def __post_init__(self) -> None:
        check_all(self, "policy uapsd")
        super().__post_init__()

    @property
    def service(self) -> ServicePeriod:
        """Return the rule of its service periods."""
        return ServicePeriod(frames=self.max_sp)
