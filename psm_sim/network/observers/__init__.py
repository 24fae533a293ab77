"""Observers: they are told what happens in a run, are asked nothing, and change nothing."""

from psm_sim.network.observers.ledger import EnergyLedger, Usage
from psm_sim.network.observers.observer import Audience, Observer
from psm_sim.network.observers.progress import PagesDone

__all__ = ["Audience", "EnergyLedger", "Observer", "PagesDone", "Usage"]
