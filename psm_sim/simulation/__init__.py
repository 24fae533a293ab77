"""Runs of the simulator: one policy, several side by side, many clients; and their results."""

from psm_sim.progress import Progress
from psm_sim.simulation.api import compare, comparison, simulate
from psm_sim.simulation.average import Average, ClientAverage, SeedAverage
from psm_sim.simulation.clients import ClientComparison
from psm_sim.simulation.compare import compare_clients, compare_runs
from psm_sim.simulation.comparison import Comparison
from psm_sim.simulation.differences import Difference, difference
from psm_sim.simulation.records import PageRecord, Traffic
from psm_sim.simulation.references import BASELINES, References
from psm_sim.simulation.replications import SeedComparison, compare_seeds
from psm_sim.simulation.result import Result
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.timeline import timeline
from psm_sim.summary_stats import Summary

__all__ = [
    "BASELINES",
    "Average",
    "ClientAverage",
    "ClientComparison",
    "Comparison",
    "Difference",
    "PageRecord",
    "Progress",
    "References",
    "Result",
    "Scenario",
    "SeedAverage",
    "SeedComparison",
    "Summary",
    "Traffic",
    "compare",
    "compare_clients",
    "compare_runs",
    "compare_seeds",
    "comparison",
    "difference",
    "simulate",
    "timeline",
]
