"""Optimal set of switching rates of Learn-alpha (thesis, section 2.3)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter

MAX_HORIZON = 1e9
"""Maximum number of rounds for which rates are computed."""


def relative_entropy(p: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return D(p||q) between Bernoulli distributions, elementwise, in nats.

    The term 0 log 0 is 0. The result is ``inf`` if q excludes an outcome that p allows.

    Parameters
    ----------
    p, q : array_like
        Probabilities, 0 to 1.
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        switch_term = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
        stay_term = np.where(p < 1, (1 - p) * (np.log1p(-p) - np.log1p(-q)), 0.0)
    entropy: FloatArray = np.maximum(switch_term + stay_term, 0.0)
    return entropy


def switching_rates(horizon: float) -> FloatArray:
    """Return the optimal switching rates for *horizon* rounds, ascending, shape (m,).

    For every alpha* in [0, 1], D(alpha*||alpha_j) is at most delta = 1 / (2 * horizon) for one of the rates
    alpha_j (thesis, eq. 2.12), and m is about sqrt(2 * horizon). The set is symmetric about 1/2. The rate 1/2
    is always included, as in the thesis, although for some horizons its two neighbours would suffice.

    Parameters
    ----------
    horizon : float
        Number of rounds T, at least 1.

    Raises
    ------
    InputError
        If the horizon is not a number from 1 to 1e9.

    Examples
    --------
    >>> rates = switching_rates(horizon=27_000)
    >>> rates.size, [float(f"{rate:.4g}") for rate in rates[:3]]
    (259, [1.852e-05, 0.0001066, 0.0002688])
    """
    rounds = Parameter("the horizon", 1.0, at_least=1, at_most=MAX_HORIZON)
    lower = _levels_below_half(1 / (2 * rounds.check(horizon, "switching_rates")))
    return np.array([*lower, 0.5, *(1 - level for level in reversed(lower))])


@lru_cache(maxsize=16)
def _levels_below_half(delta: float) -> tuple[float, ...]:
    levels = [-math.expm1(-delta)]
    while _gap(levels[-1], 0.5) > delta:
        levels.append(_next_level(levels[-1], delta))
    return tuple(levels)


def _next_level(level: float, delta: float) -> float:
    """Return the next larger rate, whose :func:`_gap` to *level* is *delta* (thesis, eq. 2.13).

    Bisection runs to machine precision.
    """
    low, high = level, 0.5
    while low < (middle := (low + high) / 2) < high:
        if _gap(level, middle) > delta:
            high = middle
        else:
            low = middle
    return high


def _gap(low: float, high: float) -> float:
    """Return the maximum of min(D(a||low), D(a||high)) over a (thesis, eq. 2.14).

    Both terms are equal at the maximum.
    """
    stay = math.log1p(-low) - math.log1p(-high)
    between = stay / (math.log(high) - math.log(low) + stay)
    return between * math.log(between / low) + (1 - between) * (math.log1p(-between) - math.log1p(-low))


def check_rates(values: ArrayLike) -> FloatArray:
    """Return switching rates as a new array, shape (m,) with m >= 1, each from 0 to 1."""
    try:
        rates = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the switching rates must be numbers from 0 to 1, got {values!r}.") from None
    if rates.ndim != 1 or not rates.size:
        raise InputError(f"the switching rates must be a non-empty list, got shape {rates.shape}.")
    for index, rate in enumerate(rates.tolist()):
        if not 0 <= rate <= 1:
            raise InputError(f"switching rate {index} must be a number from 0 to 1, got {rate!r}.")
    return rates
