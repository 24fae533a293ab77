"""Faults of an answer that a loss has given, in words."""

from __future__ import annotations

import numpy as np

from psm_sim.array_types import FloatArray

EXPECTED = "expected an array of one finite number of 0 or more for each candidate time"
"""What every loss has to return."""


MAX_LOSS = 1e100
"""The largest loss, in nats: the sum of those of any run is still a number."""


def describe_loss_error(losses: object, times_ms: FloatArray) -> str:
    """Say what is wrong with the *losses* returned for the candidates *times_ms*; nothing if all is well."""
    if not isinstance(losses, np.ndarray) or losses.dtype.kind not in "fiu":
        kind = f"an array of {losses.dtype}" if isinstance(losses, np.ndarray) else type(losses).__name__
        return f"returned {kind}"
    if losses.shape != times_ms.shape:
        return f"returned shape {losses.shape} for {times_ms.size} candidate times"
    if losses.size and MAX_LOSS < float(losses.max()) < np.inf:
        return f"returned {losses.max():g}, more than {MAX_LOSS:g} nats"
    wrong = np.flatnonzero(~(np.isfinite(losses) & (losses >= 0)))
    return f"returned {losses[wrong[0]]} for {times_ms[wrong[0]]:g} ms" if wrong.size else ""
