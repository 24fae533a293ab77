"""Version of psm_sim, part of every result and of every task key."""

__version__ = "0.1.0"
