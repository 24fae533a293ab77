"""Helpers of the power-save policies: inference from frames, schedules of dozes, and polling times."""
