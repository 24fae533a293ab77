"""Contract checks: what every policy, loss, learner and query rule must do, built in or a user's own."""

from psm_sim.contracts.check_report import Finding, Report
from psm_sim.contracts.check_runner import check

__all__ = ["Finding", "Report", "check"]
