"""Contract checks of policies, losses, learners and query rules."""

from psm_sim.contracts.check_report import Finding, Report
from psm_sim.contracts.check_runner import check

__all__ = ["Finding", "Report", "check"]
