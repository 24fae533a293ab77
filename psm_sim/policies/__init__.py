"""When the radio sleeps: one module a policy."""

from psm_sim.losses.poll import Poll
from psm_sim.policies.base import Policy, Rest, beacon_after, beacon_before
from psm_sim.policies.make import POLICIES, make_policy

__all__ = ["POLICIES", "Policy", "Poll", "Rest", "beacon_after", "beacon_before", "make_policy"]
