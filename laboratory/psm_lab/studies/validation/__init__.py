"""Validation studies that compare the simulator with measured hardware, one module each."""
