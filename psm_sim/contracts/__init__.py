"""Contract checks: what every policy, loss, learner and query rule must do, built in or a user's own."""

from psm_sim.contracts.report import Finding, Report
from psm_sim.contracts.runner import check

__all__ = ["Finding", "Report", "check"]
