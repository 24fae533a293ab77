"""SimPy model of links, TCP, browser, server, access point and station, with its observers."""

from psm_sim.network.build import build_world
from psm_sim.network.energy_ledger import EnergyLedger, Usage
from psm_sim.network.observers import Observer
from psm_sim.network.page_outcomes import PageError
from psm_sim.network.topology import Topology, load_topology, topology_differences, topology_keys
from psm_sim.network.world import World, run_alone

__all__ = [
    "EnergyLedger",
    "Observer",
    "PageError",
    "Topology",
    "Usage",
    "World",
    "build_world",
    "load_topology",
    "run_alone",
    "topology_differences",
    "topology_keys",
]  # fmt: skip
