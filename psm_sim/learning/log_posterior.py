"""Bayesian weights in the log domain."""

from __future__ import annotations

import math

import numpy as np

from psm_sim.common.array_types import FloatArray


class LogPosterior:
    """Weights proportional to exp of the accumulated log evidence.

    A weight that underflows can recover later. This is Static-expert if applied to experts, and the rate
    posterior of Learn-alpha if applied to switching rates (thesis, eq. 2.7).

    Parameters
    ----------
    size : int
        Number of weights.

    Attributes
    ----------
    weights : ndarray, shape (size,)
        Distribution; sums to 1.
    log_weights : ndarray, shape (size,)
        Logarithms of the weights up to a constant, with maximum 0. The value is ``-inf`` for a permanent
        weight of 0.
    """

    def __init__(self, size: int) -> None:
        self.weights: FloatArray = np.empty(size)
        self.log_weights: FloatArray = np.zeros(size)
        self._sum: FloatArray = np.empty(size)
        self.restore(self.log_weights)

    def restore(self, log_weights: FloatArray) -> None:
        """Set the log-weights, up to a constant. Their maximum must be finite."""
        np.subtract(log_weights, log_weights.max(), out=self.log_weights)
        self._log_total = self._normalise()

    def observe(self, log_evidence: FloatArray) -> float:
        """Multiply the weights by exp(*log_evidence*), shape (size,).

        Returns
        -------
        float
            ``log(sum_j weights[j] exp(log_evidence[j]))``. If it is ``-inf``, the weights are unchanged.
        """
        np.add(self.log_weights, log_evidence, out=self._sum)
        maximum = self._sum.item(self._sum.argmax())
        if maximum == -math.inf:
            return maximum
        # Subtract the maximum, so that the largest exp() is exactly 1, and add it to the result again.
        np.subtract(self._sum, maximum, out=self.log_weights)
        previous_log_total, self._log_total = self._log_total, self._normalise()
        return maximum + self._log_total - previous_log_total

    def _normalise(self) -> float:
        np.exp(self.log_weights, out=self.weights)
        total = float(np.add.reduce(self.weights))
        np.divide(self.weights, total, out=self.weights)
        return math.log(total)
