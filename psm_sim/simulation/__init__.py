"""Runs of one or several policies, clients, seeds or stations, and their results."""

from psm_sim.common.progress import Progress
from psm_sim.common.summary_stats import Summary
from psm_sim.simulation.api import compare, simulate
from psm_sim.simulation.comparison import (
    BASELINES,
    ClientComparison,
    Comparison,
    References,
    SeedComparison,
)
from psm_sim.simulation.policy_comparison import compare_clients, compare_runs, compare_seeds
from psm_sim.simulation.result import Result
from psm_sim.simulation.result_parts import PageRecord, Traffic
from psm_sim.simulation.run_averages import (
    Average,
    ClientAverage,
    PairedDifference,
    SeedAverage,
    paired_difference,
)
from psm_sim.simulation.scenario import Scenario
from psm_sim.simulation.timeline import timeline

__all__ = [
    "BASELINES",
    "Average",
    "ClientAverage",
    "ClientComparison",
    "Comparison",
    "PageRecord",
    "PairedDifference",
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
    "paired_difference",
    "simulate",
    "timeline",
]
