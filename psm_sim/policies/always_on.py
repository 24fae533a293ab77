"""Always-on: no power saving, the radio never dozes."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from psm_sim.policies.base import Policy, Rest
from psm_sim.poll import Poll


@dataclass
class AlwaysOn(Policy):
    """Never doze: the policy that every slowdown is measured against."""

    name: ClassVar[str] = "always-on"

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Never doze."""
        return Rest(awake_s=inf)
