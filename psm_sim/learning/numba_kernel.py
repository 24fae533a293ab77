"""One round of Learn-alpha as loops over its weights, for Numba to compile.

The arithmetic is that of :class:`~psm_sim.learning.fixed_share_bank.FixedShareBank` and of
:class:`~psm_sim.learning.posterior.LogPosterior`, in another order of sums; and the posterior over the rates
is multiplied by each round's evidence itself, of which logarithms are taken every so many rounds only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from psm_sim.array_types import FloatArray

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
    """Learn one round of m rates over n experts in place, and return the log-likelihood of their mixture.

    Parameters
    ----------
    relative : ndarray, shape (n,)
        The log-likelihoods of the experts, the largest 0.
    weights : ndarray, shape (n, m)
        The distribution over the experts at each rate; revised.
    keep, added : ndarray, shape (m,)
        Of each rate: the part of a weight that is kept, and what is added to each (2.3).
    start, gains : ndarray, shape (m,)
        The posterior over the rates some rounds ago, and each rate's likelihood since; gains are revised.
    rate_weights : ndarray, shape (m,)
        The posterior over the rates, a distribution; revised.
    scratch : ndarray, shape (m,)
        Anything.
    means : ndarray, shape (n,)
        Set to the distribution over the experts for the coming round.
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
    """Compile :func:`learn_alpha_kernel`, with an on-disk cache if a cache directory is writable.

    Raises
    ------
    ImportError
        If Numba is not installed, or does not fit this NumPy.
    """
    from numba import njit

    try:
        made: Callable[..., float] = njit(_TYPES, cache=True, **_OPTIONS)(learn_alpha_kernel)
    except (OSError, RuntimeError):
        made = njit(_TYPES, **_OPTIONS)(learn_alpha_kernel)
    return made
