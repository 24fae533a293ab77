"""When the radio sleeps: one module a policy."""

from psm_sim.beacons import beacon_after, beacon_before
from psm_sim.policies.base import Policy, Rest
from psm_sim.policies.make import POLICIES, make_policy
from psm_sim.poll import Poll

__all__ = ["POLICIES", "Policy", "Poll", "Rest", "beacon_after", "beacon_before", "make_policy"]
