"""Workloads: page views and messages of a client."""

from psm_sim.workload.loading import load_workload, load_workloads
from psm_sim.workload.page_list import read_page_list, write_page_list
from psm_sim.workload.page_view import Page
from psm_sim.workload.workload import Workload

__all__ = ["Page", "Workload", "load_workload", "load_workloads", "read_page_list", "write_page_list"]
