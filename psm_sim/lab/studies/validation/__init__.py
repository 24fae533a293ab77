"""Validation studies that compare the simulator with measured hardware, one module each."""

VALIDATIONS = {
    "dtim": "measured_dtim_currents:STUDY",
    "duty-cycle": "measured_duty_cycles:STUDY",
    "latency": "measured_latencies:STUDY",
}
"""Module and object of each study by its name on the command line, in the order of the report."""
