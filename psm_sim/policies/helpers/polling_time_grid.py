"""Evenly spaced polling times of the experts."""

from __future__ import annotations

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning.switching_rates import MAX_HORIZON

MAX_EXPERTS = 10_000
"""Maximum number of experts."""


def polling_times_ms(min_ms: float, max_ms: float, step_ms: float, owner: str) -> FloatArray:
    """Return the polling times of the experts, shape (n,), in ms.

    Parameters
    ----------
    min_ms, max_ms : float
        Shortest polling time and upper limit of the longest one, in ms.
    step_ms : float
        Spacing, in ms, above 0.
    owner : str
        Component named in error messages, such as ``"policy lpsm"``.

    Raises
    ------
    InputError
        If *max_ms* is below *min_ms*, or there are fewer than 2 or more than :data:`MAX_EXPERTS` experts.
    """
    if max_ms < min_ms:
        raise InputError(f"{owner}: max_ms must be at least min_ms ({min_ms:g}), got {max_ms:g}.")
    # 1e-9: include a last step that exceeds max_ms by a rounding error only
    count = int(min((max_ms - min_ms) / step_ms + 1e-9, 1e9)) + 1
    if not 2 <= count <= MAX_EXPERTS:
        raise InputError(
            f"{owner}: min_ms={min_ms:g}, max_ms={max_ms:g}, step_ms={step_ms:g} define {count} experts;"
            f" expected 2 to {MAX_EXPERTS}."
        )
    times_ms = min_ms + step_ms * np.arange(count, dtype=np.float64)
    times_ms.flags.writeable = False  # read-only, since user-defined losses receive the array
    return times_ms


def polls_in_horizon(horizon_s: float, beacon_s: float, owner: str) -> int:
    """Return the number of polls in a horizon, one at each beacon, at least 1.

    Parameters
    ----------
    horizon_s, beacon_s : float
        Horizon and beacon interval, in seconds.
    owner : str
        Component named in error messages, such as ``"policy lpsm"``.

    Raises
    ------
    InputError
        If the horizon exceeds the range of the switching rates.
    """
    polls = horizon_s / beacon_s
    if polls > MAX_HORIZON:
        raise InputError(
            f"{owner}: horizon_s={horizon_s:g} is {polls:g} beacon intervals of {1e3 * beacon_s:g} ms;"
            f" expected at most {MAX_HORIZON:g}."
        )
    return max(1, round(polls))
