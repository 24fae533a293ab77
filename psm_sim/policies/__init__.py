"""Power-save policies, which decide when the radio sleeps."""

from psm_sim.beacons import Beacons
from psm_sim.policies.base import Frame, Policy, RadioPower, Rest
from psm_sim.policies.factory import POLICIES, make_policy
from psm_sim.poll import Poll

__all__ = ["POLICIES", "Beacons", "Frame", "Policy", "Poll", "RadioPower", "Rest", "make_policy"]
