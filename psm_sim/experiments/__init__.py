"""Runs of the simulator: one policy, or several side by side."""

from psm_sim.experiments.client_average import ClientAverage
from psm_sim.experiments.clients import ClientComparison, compare_clients
from psm_sim.experiments.compare import Comparison, Progress, compare, compare_runs, simulate
from psm_sim.experiments.result import PageRecord, Result, Traffic
from psm_sim.experiments.summary import Summary

__all__ = [
    "ClientAverage",
    "ClientComparison",
    "Comparison",
    "PageRecord",
    "Progress",
    "Result",
    "Summary",
    "Traffic",
    "compare",
    "compare_clients",
    "compare_runs",
    "simulate",
]
