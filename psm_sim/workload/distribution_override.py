"""Parsing of a constant that replaces a trace's own distribution."""

from __future__ import annotations

import math

from psm_sim.common.errors import InputError
from psm_sim.common.input_limits import MAX_BYTES, MAX_MS

AS_TRACE = "trace"
"""Parameter value that selects the trace's own distribution."""


def constant_distribution(name: str, text: str, at_least: float) -> float | None:
    """Return the constant in *text*; 0 for ``none`` and None for ``trace``.

    Parameters
    ----------
    name : str
        Name of the parameter, for the error message.
    text : str
        Value of the parameter as text.
    at_least : float
        Smallest allowed constant. ``none`` is allowed if it is 0.

    Raises
    ------
    InputError
        If *text* is neither an allowed constant nor one of these words.
    """
    lowered = text.strip().lower()
    if lowered == AS_TRACE:
        return None
    try:
        value = 0.0 if lowered == "none" else float(lowered)
    except ValueError:
        value = math.nan
    maximum = MAX_MS if at_least == 0 else MAX_BYTES
    if not at_least <= value <= maximum:
        alternatives = ", 'none' or 'trace'" if at_least == 0 else " or 'trace'"
        raise InputError(
            f"trace: {name} must be a number from {at_least:g} to {maximum:g}{alternatives}, got {text!r}."
        )
    return value
