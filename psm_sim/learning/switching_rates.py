"""Switching rates: the discrete set that Learn-alpha needs (thesis, section 2.3)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.learning.input_checks import check_number

MAX_HORIZON = 1e9
"""The largest number of rounds for which rates are chosen."""


def relative_entropy(p: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return D(p||q) in nats between Bernoulli distributions, elementwise; 0 log 0 is 0.

    It is ``inf`` where q rules out what p allows.
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
        stayed = np.where(p < 1, (1 - p) * (np.log1p(-p) - np.log1p(-q)), 0.0)
    found: FloatArray = np.maximum(moved + stayed, 0.0)
    return found


def switching_rates(horizon: float) -> FloatArray:
    """Return the optimal switching rates for *horizon* rounds, in increasing order, shape (m,).

    Every alpha* in [0, 1] lies within delta = 1 / (2 * horizon) of one of them in D(alpha*||alpha_j)
    (2.12), and m is about sqrt(2 * horizon). The set is symmetric about 1/2, which it contains as the
    thesis says, although for some horizons its two neighbours would do without it.

    Parameters
    ----------
    horizon : float
        The number of rounds T to be learnt, at least 1.

    Raises
    ------
    InputError
        If the horizon is no number from 1 to 1e9.

    Examples
    --------
    >>> rates = switching_rates(horizon=27_000)
    >>> rates.size, [float(f"{rate:.4g}") for rate in rates[:3]]
    (259, [1.852e-05, 0.0001066, 0.0002688])
    """
    rounds = check_number(horizon, "the horizon", "a number of rounds from 1 to 1e9", 1, MAX_HORIZON)
    lower = _levels_below_half(1 / (2 * rounds))
    return np.array([*lower, 0.5, *(1 - level for level in reversed(lower))])


@lru_cache(maxsize=16)
def _levels_below_half(delta: float) -> tuple[float, ...]:
    levels = [-math.expm1(-delta)]
    while _gap(levels[-1], 0.5) > delta:
        levels.append(_next_level(levels[-1], delta))
    return tuple(levels)


def _next_level(level: float, delta: float) -> float:
    """Return the level whose gap to *level* is *delta* (2.13), by bisection to the last bit."""
    low, high = level, 0.5
    while low < (middle := (low + high) / 2) < high:
        if _gap(level, middle) > delta:
            high = middle
        else:
            low = middle
    return high


def _gap(low: float, high: float) -> float:
    """Return the largest of min(D(a||low), D(a||high)) over a: where both are equal (2.14)."""
    stay = math.log1p(-low) - math.log1p(-high)
    between = stay / (math.log(high) - math.log(low) + stay)
    return between * math.log(between / low) + (1 - between) * (math.log1p(-between) - math.log1p(-low))
