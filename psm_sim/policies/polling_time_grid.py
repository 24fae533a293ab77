"""Experts' polling times: evenly spaced from the shortest to the longest."""

from __future__ import annotations

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.learning.switching_rates import MAX_HORIZON

MAX_EXPERTS = 10_000
"""The largest number of experts."""


def polling_times_ms(min_ms: float, max_ms: float, step_ms: float, owner: str) -> FloatArray:
    """Return the polling times of the experts, shape (n,), in ms.

    Parameters
    ----------
    min_ms, max_ms
        The shortest time, and what the longest does not exceed, in ms.
    step_ms
        The spacing, in ms, above 0.
    owner
        What the errors call their user, such as ``"policy lpsm"``.

    Raises
    ------
    InputError
        If *max_ms* is below *min_ms*, or there are fewer than 2 or more than :data:`MAX_EXPERTS` experts.
    """
    if max_ms < min_ms:
        raise InputError(f"{owner}: max_ms is {max_ms:g}; expected at least min_ms, which is {min_ms:g}.")
    # 1e-9: a last step that floating point makes a little too long still counts
    count = int(min((max_ms - min_ms) / step_ms + 1e-9, 1e9)) + 1
    if not 2 <= count <= MAX_EXPERTS:
        raise InputError(
            f"{owner}: min_ms={min_ms:g}, max_ms={max_ms:g}, step_ms={step_ms:g} give {count} experts;"
            f" expected 2 to {MAX_EXPERTS}."
        )
    times_ms = min_ms + step_ms * np.arange(count, dtype=np.float64)
    times_ms.flags.writeable = False  # they are handed to losses of users' own
    return times_ms


def polls_in_horizon(horizon_s: float, beacon_s: float, owner: str) -> int:
    """Return the number of polls in a horizon, one at each beacon, at least 1.

    Parameters
    ----------
    horizon_s, beacon_s
        The horizon, and the time from beacon to beacon, in seconds.
    owner
        What the error calls their user, such as ``"policy lpsm"``.

    Raises
    ------
    InputError
        If there are more than switching rates can be chosen for.
    """
    polls = horizon_s / beacon_s
    if polls > MAX_HORIZON:
        raise InputError(
            f"{owner}: horizon_s={horizon_s:g} is {polls:g} beacons {1e3 * beacon_s:g} ms apart; expected at"
            f" most {MAX_HORIZON:g}, so give a shorter horizon."
        )
    return max(1, round(polls))
