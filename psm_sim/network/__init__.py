"""The SimPy world: links, TCP, browser, server, access point, station."""

from psm_sim.network.ledger import EnergyLedger, RadioObserver, Usage
from psm_sim.network.topology import Topology, load_topology, topology_keys
from psm_sim.network.world import World

__all__ = ["EnergyLedger", "RadioObserver", "Topology", "Usage", "World", "load_topology", "topology_keys"]
