"""Validation of the result of a loss."""

from __future__ import annotations

import numpy as np

from psm_sim.common.array_types import FloatArray

EXPECTED = "expected an array with one finite number >= 0 for each candidate time"
"""Expected result of a loss, for error messages."""


MAX_LOSS = 1e100
"""Maximum loss, in nats. The sum of such losses over any run is finite."""


def describe_loss_error(losses: object, times_ms: FloatArray) -> str:
    """Describe the error in a result of a loss, or return "" if it is valid.

    Parameters
    ----------
    losses : object
        Result of the loss.
    times_ms : ndarray, shape (n,)
        Candidate polling times, in ms.
    """
    if not isinstance(losses, np.ndarray) or losses.dtype.kind not in "fiu":
        kind = f"an array of {losses.dtype}" if isinstance(losses, np.ndarray) else type(losses).__name__
        return f"returned {kind}"
    if losses.shape != times_ms.shape:
        return f"returned shape {losses.shape} for {times_ms.size} candidate times"
    if losses.size and MAX_LOSS < float(losses.max()) < np.inf:
        return f"returned {losses.max():g}, more than {MAX_LOSS:g} nats"
    invalid = np.flatnonzero(~(np.isfinite(losses) & (losses >= 0)))
    return f"returned {losses[invalid[0]]} for {times_ms[invalid[0]]:g} ms" if invalid.size else ""
