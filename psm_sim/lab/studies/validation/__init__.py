"""Validation: the simulator against measured hardware. One module per study."""

VALIDATIONS = {
    "dtim": "measured_dtim_currents:STUDY",
    "duty-cycle": "measured_duty_cycles:STUDY",
    "latency": "measured_latencies:STUDY",
}
"""The module and object of each study, by its name on the command line, in the order of the report."""
