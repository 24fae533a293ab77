"""One round of Learn-alpha as explicit loops, for compilation with Numba.

The arithmetic is that of :class:`~psm_sim.learning.fixed_share_bank.FixedShareBank` and
:class:`~psm_sim.learning.log_posterior.LogPosterior`, with another order of summation. The posterior over the
rates is multiplied by the evidence of each round directly, and logarithms are taken only once in many rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from psm_sim.common.array_types import FloatArray

_TYPES = "float64(float64[::1], float64[:, ::1], " + ", ".join(["float64[::1]"] * 7) + ")"
_OPTIONS: dict[str, Any] = {"fastmath": {"reassoc", "contract"}, "error_model": "numpy"}


def learn_alpha_kernel(
    relative: FloatArray,
    weights: FloatArray,
    keep: FloatArray,
    added: FloatArray,
    start: FloatArray,
    gains: FloatArray,
    rate_weights: FloatArray,
    scratch: FloatArray,
    means: FloatArray,
) -> float:
    """Learn one round of m rates over n experts in place.

    Parameters
    ----------
    relative : ndarray, shape (n,)
        Log-likelihoods of the experts, whose maximum is 0.
    weights : ndarray, shape (n, m)
        Distribution over the experts at each rate; updated.
    keep, added : ndarray, shape (m,)
        For each rate, the factor of a weight and the term then added to it (thesis, eq. 2.3).
    start, gains : ndarray, shape (m,)
        Posterior over the rates at the last flush, and the likelihood of each rate since then; gains are
        updated.
    rate_weights : ndarray, shape (m,)
        Posterior over the rates, a distribution; updated.
    scratch : ndarray, shape (m,)
        Work array.
    means : ndarray, shape (n,)
        Set to the distribution over the experts for the next round.

    Returns
    -------
    float
        Log-likelihood of the mixture.
    """
    n, m = weights.shape
    scratch[:] = 0.0
    for i in range(n):
        factor = means[i] = math.exp(relative[i])
        for j in range(m):
            scratch[j] += factor * weights[i, j]
    likelihood = total = 0.0
    for j in range(m):
        likelihood += rate_weights[j] * scratch[j]
        gains[j] *= scratch[j]
        rate_weights[j] = start[j] * gains[j]
        total += rate_weights[j]
        scratch[j] = keep[j] / scratch[j]
    for j in range(m):
        rate_weights[j] /= total
    for i in range(n):
        factor, mean = means[i], 0.0
        for j in range(m):
            weight = weights[i, j] * (factor * scratch[j]) + added[j]
            weights[i, j] = weight
            mean += weight * rate_weights[j]
        means[i] = mean
    return math.log(likelihood)


@cache
def compile_kernel() -> Callable[..., float]:
    """Compile :func:`learn_alpha_kernel`, with an on-disk cache if the cache directory is writable.

    Raises
    ------
    ImportError
        If Numba is not installed, or does not support this NumPy version.
    """
    from numba import njit

    try:
        compiled: Callable[..., float] = njit(_TYPES, cache=True, **_OPTIONS)(learn_alpha_kernel)
    except (OSError, RuntimeError):
        compiled = njit(_TYPES, **_OPTIONS)(learn_alpha_kernel)
    return compiled
