"""Calibration of a chip profile from a recording of its current."""
