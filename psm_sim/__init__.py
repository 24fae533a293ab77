"""psm_sim: what an 802.11 power-save policy costs, and what it saves."""

__version__ = "0.1.0"
