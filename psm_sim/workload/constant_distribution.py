"""Constant in the place of a trace's own distribution, as users write it."""

from __future__ import annotations

import math

from psm_sim.errors import InputError
from psm_sim.limits import MAX_BYTES, MAX_MS

AS_TRACE = "trace"
"""The word for the trace's own distribution."""


def constant_distribution(name: str, text: str, at_least: float) -> float | None:
    """Return the constant in *text*, 0 for ``none``, None for ``trace``; else raise :class:`InputError`.

    Parameters
    ----------
    name : str
        The name of the parameter, for the error.
    text : str
        Its value as a user writes it.
    at_least : float
        The smallest constant allowed; ``none`` is allowed if it is 0.
    """
    word = text.strip().lower()
    if word == AS_TRACE:
        return None
    try:
        value = 0.0 if word == "none" else float(word)
    except ValueError:
        value = math.nan
    most = MAX_MS if at_least == 0 else MAX_BYTES
    if not at_least <= value <= most:
        words = ", none or trace" if at_least == 0 else " or trace"
        raise InputError(
            f"trace: {name} is {text!r}; expected a number from {at_least:g} to {most:g}{words}."
        )
    return value
