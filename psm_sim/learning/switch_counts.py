"""Posterior moments of the number of switches (posterior Q of Lemma 1).

They are computed in one pass, without enumeration of the sequences.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from psm_sim.common.array_types import FloatArray

_ROUNDING = 1e-13
"""Rounding error per step."""


class SwitchCounts(NamedTuple):
    """Posterior moments of the number k of switches in T rounds, at one alpha.

    L_T has the slope -excess / (alpha (1 - alpha)). At its minimum the expected share of switches is
    therefore alpha.

    Attributes
    ----------
    loss : float
        L_T(alpha), in nats.
    excess : float
        E[k] - alpha (T - 1).
    variance : float
        Variance of k.
    """

    loss: float
    excess: float
    variance: float

    def beta(self, alpha: float, transitions: int) -> float:
        """Return alpha (1 - alpha) / (T - 1) L''_T(alpha) at a minimum (thesis, eq. 2.20).

        It lies in [0, 1) and is rounded down by the largest possible rounding error.

        Parameters
        ----------
        alpha : float
            Switching rate at the minimum.
        turns : int
            Number of transitions T - 1.
        """
        spread = max(self.variance, 0.0) / (transitions * alpha * (1 - alpha))
        return max(1 - spread - _ROUNDING * (transitions + 10), 0.0)


def count_switches(table: FloatArray, alpha: float) -> SwitchCounts:
    """Return the first two posterior moments of the number of switches.

    The count is stored relative to its prior mean, so that no cancellation occurs in long runs. The pass
    takes O(T n) time and constant memory.

    Parameters
    ----------
    table : ndarray, shape (T, n)
        Losses in nats, n >= 2.
    alpha : float
        Switching rate between 1e-100 and 1 - 1e-9, where plain arithmetic is safe.
    """
    n = table.shape[1]
    min_losses = table.min(axis=1)
    likelihoods = np.exp(min_losses[:, None] - table)
    # Relative to the mean alpha, a switch counts 1 - alpha and a stay -alpha.
    switched = alpha / (n - 1) * _advance(1 - alpha)
    stayed = (1 - alpha) * _advance(-alpha) - switched
    moments = np.zeros((3, n))
    moments[0] = 1 / n
    loss, last = 0.0, len(table) - 1
    for t, likelihood in enumerate(likelihoods):
        moments *= likelihood
        mixture = np.add.reduce(moments[0]).item()
        moments /= mixture
        loss -= math.log(mixture)
        if t < last:
            moments = stayed @ moments + (switched @ np.add.reduce(moments, axis=1))[:, None]
    _, first, second = moments.sum(axis=1).tolist()
    return SwitchCounts(loss + math.fsum(min_losses.tolist()), first, second - first * first)


def _advance(step: float) -> FloatArray:
    """Return the matrix that maps the moments (1, k, k^2) of a count to those of the count plus *step*."""
    return np.array([[1.0, 0.0, 0.0], [step, 1.0, 0.0], [step * step, 2 * step, 1.0]])
