"""Contract checks: what every policy, loss and learner must do, built in or a user's own."""

from psm_sim.contracts.report import Finding, Report
from psm_sim.contracts.runner import check

__all__ = ["Finding", "Report", "check"]
