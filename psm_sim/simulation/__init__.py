"""Simulation of policies, for one or several seeds, clients and stations."""

from psm_sim.common.progress import Progress
from psm_sim.common.summary_stats import Summary
from psm_sim.simulation.api import compare, simulate
from psm_sim.simulation.comparison import BASELINES, Comparison, References
from psm_sim.simulation.policy_comparison import run_comparison
from psm_sim.simulation.recorder import timeline
from psm_sim.simulation.result import Result
from psm_sim.simulation.scenario import Scenario

__all__ = [
    "BASELINES",
    "Comparison",
    "Progress",
    "References",
    "Result",
    "Scenario",
    "Summary",
    "compare",
    "run_comparison",
    "simulate",
    "timeline",
]
