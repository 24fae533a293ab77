"""Log posterior: Bayesian weights over things that do not switch, kept in the log domain."""

from __future__ import annotations

import math

import numpy as np

from psm_sim.array_types import FloatArray


class LogPosterior:
    """Weights proportional to exp of summed log-evidence; a weight that underflows can come back.

    It is Static-expert over experts, and the top level of Learn-alpha over switching rates (2.7).

    Attributes
    ----------
    weights : ndarray, shape (size,)
        The distribution; sums to 1.
    log_weights : ndarray, shape (size,)
        Its logarithm up to a constant, the largest 0; ``-inf`` for what is ruled out for good.
    """

    def __init__(self, size: int) -> None:
        self.weights: FloatArray = np.empty(size)
        self.log_weights: FloatArray = np.zeros(size)
        self._sum: FloatArray = np.empty(size)
        self.restore(self.log_weights)

    def restore(self, log_weights: FloatArray) -> None:
        """Set the log-weights, up to a constant; the largest must be finite."""
        np.subtract(log_weights, log_weights.max(), out=self.log_weights)
        self._log_total = self._normalise()

    def observe(self, log_evidence: FloatArray) -> float:
        """Multiply the weights by exp(*log_evidence*), shape (size,).

        Returns
        -------
        float
            ``log(sum_j weights[j] exp(log_evidence[j]))``; if it is ``-inf`` nothing is changed.
        """
        np.add(self.log_weights, log_evidence, out=self._sum)
        peak = self._sum.item(self._sum.argmax())
        if peak == -math.inf:
            return peak
        # The peak is taken out, so that exp() of the largest is exactly 1, and added again to the result.
        np.subtract(self._sum, peak, out=self.log_weights)
        before, self._log_total = self._log_total, self._normalise()
        return peak + self._log_total - before

    def _normalise(self) -> float:
        np.exp(self.log_weights, out=self.weights)
        total = float(np.add.reduce(self.weights))
        np.divide(self.weights, total, out=self.weights)
        return math.log(total)
