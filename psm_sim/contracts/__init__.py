"""Contract checks of policies, losses and learners."""

from psm_sim.contracts.check_runner import check
from psm_sim.contracts.report import Finding, Report

__all__ = ["Finding", "Report", "check"]
