"""Validation: the simulator against measured hardware. One module per study."""

VALIDATIONS = {
    "dtim": "dtim:STUDY",
    "duty-cycle": "duty_cycle:STUDY",
    "latency": "latency:STUDY",
}
"""The module and object of each study, by its name on the command line, in the order of the report."""
