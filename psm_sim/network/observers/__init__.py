"""Observers, which record the events of a run without affecting it."""

from psm_sim.network.observers.energy_ledger import EnergyLedger, Usage
from psm_sim.network.observers.observer import Observer, ObserverHooks
from psm_sim.network.observers.progress import PagesDone

__all__ = ["EnergyLedger", "Observer", "ObserverHooks", "PagesDone", "Usage"]
