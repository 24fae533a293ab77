"""Switch counts: the number of switches given the losses (posterior Q of Lemma 1), without enumeration."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from psm_sim.array_types import FloatArray

_ROUNDING = 1e-13


class SwitchCounts(NamedTuple):
    """Moments of the number k of switches in T rounds, under the posterior over sequences at one alpha.

    ``loss`` is L_T(alpha) in nats, ``excess`` is E[k] - alpha (T - 1), ``variance`` is that of k.
    L_T has slope -excess / (alpha (1 - alpha)): where it is least, the expected share of switches is alpha.
    """

    loss: float
    excess: float
    variance: float

    def beta(self, alpha: float, turns: int) -> float:
        """Return alpha (1 - alpha) / (T - 1) L''_T(alpha) at a minimum, by (2.20).

        It lies in [0, 1) and is rounded down by what *turns* steps of arithmetic can have added.
        """
        spread = max(self.variance, 0.0) / (turns * alpha * (1 - alpha))
        return max(1 - spread - _ROUNDING * (turns + 10), 0.0)


def count_switches(table: FloatArray, alpha: float) -> SwitchCounts:
    """Pass forward over losses, shape (T, n) with n >= 2, with the count's first two moments.

    *alpha* must lie between 1e-100 and 1 - 1e-9, where plain arithmetic is safe. The count is kept about
    its prior mean, so that nothing cancels in long runs. O(T n) time, no memory.
    """
    n = table.shape[1]
    least = table.min(axis=1)
    likelihoods = np.exp(least[:, None] - table)
    # Less its mean alpha, a switch counts 1 - alpha and a stay -alpha.
    switched = alpha / (n - 1) * _advance(1 - alpha)
    kept = (1 - alpha) * _advance(-alpha) - switched
    moments = np.zeros((3, n))
    moments[0] = 1 / n
    loss, last = 0.0, len(table) - 1
    for t, likelihood in enumerate(likelihoods):
        moments *= likelihood
        mixture = np.add.reduce(moments[0]).item()
        moments /= mixture
        loss -= math.log(mixture)
        if t < last:
            moments = kept @ moments + (switched @ np.add.reduce(moments, axis=1))[:, None]
    _, first, second = moments.sum(axis=1).tolist()
    return SwitchCounts(loss + math.fsum(least.tolist()), first, second - first * first)


def _advance(step: float) -> FloatArray:
    """Return the matrix that takes the moments (1, k, k^2) of a count to those of the count plus *step*."""
    return np.array([[1.0, 0.0, 0.0], [step, 1.0, 0.0], [step * step, 2 * step, 1.0]])
