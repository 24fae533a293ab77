"""Runs of the simulator: one policy, or several side by side."""
