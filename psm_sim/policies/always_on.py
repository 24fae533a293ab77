"""Policy without power saving."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from psm_sim.policies.base import Policy, Rest
from psm_sim.poll import Poll


@dataclass
class AlwaysOn(Policy):
    """Policy that never dozes, the baseline of every slowdown."""

    name: ClassVar[str] = "always-on"

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Stay awake."""
        return Rest(awake_s=inf)
