"""Runs of the simulator: one policy, several side by side, many clients; and their results."""

from psm_sim.estimates import Summary
from psm_sim.progress import Progress
from psm_sim.simulation.api import compare, simulate
from psm_sim.simulation.client_average import ClientAverage
from psm_sim.simulation.clients import ClientComparison
from psm_sim.simulation.compare import Comparison, compare_clients, compare_runs
from psm_sim.simulation.result import PageRecord, Result, Traffic
from psm_sim.simulation.scenario import Scenario

__all__ = [
    "ClientAverage",
    "ClientComparison",
    "Comparison",
    "PageRecord",
    "Progress",
    "Result",
    "Scenario",
    "Summary",
    "Traffic",
    "compare",
    "compare_clients",
    "compare_runs",
    "simulate",
]
