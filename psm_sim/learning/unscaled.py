"""Rounds of Learn-alpha by calls of NumPy: scaled in each, or only when the levels' sums are read."""

from __future__ import annotations

import math

import numpy as np

from psm_sim.arrays import Floats
from psm_sim.learning.levels import Levels
from psm_sim.learning.posterior import LogPosterior

LEAST_GAIN = math.log(1e-150)
"""Logarithm of the least evidence that may gather before it is added to the posterior's logarithms."""
_LEAST_SUM = math.exp(LEAST_GAIN)


class Rounds:
    """Rounds by calls of NumPy, each of which is one walk over an array.

    Parameters
    ----------
    levels : Levels
        The distributions over the experts, one per switching rate; revised by each round.
    top : LogPosterior
        The posterior over the rates; revised by each round.
    means : ndarray, shape (n,)
        Where each round puts the distribution over the experts.
    """

    def __init__(self, levels: Levels, top: LogPosterior, means: Floats) -> None:
        self._levels, self._top, self._means = levels, top, means

    def learn(self, relative: Floats) -> float:
        """Learn one round of log-likelihoods *relative*, (n,), maximum 0; return that of their mixture.

        If it is ``-inf`` nothing is changed.
        """
        gain = self._top.observe(self._levels.evidence(relative))
        if gain > -math.inf:
            self._levels.share()
            np.dot(self._levels.weights, self._top.weights, out=self._means)
        return gain

    def rate_weights(self) -> Floats:
        """Return the distribution over the rates, shape (m,), in an array of its own."""
        return self._top.weights.copy()

    def settle(self) -> None:
        """Bring levels and the posterior up to date; call it before they are read."""

    def begin(self) -> None:
        """Go on from levels and posterior as they stand; call it after they were set."""
        np.dot(self._levels.weights, self._top.weights, out=self._means)

    def leap(self, log_evidence: Floats, weights: Floats) -> None:
        """Go on from *weights*, (n, m), whose sums are evidence of the rates beside *log_evidence*, (m,)."""
        self._levels.weights[:] = weights
        self._top.observe(self._levels.scale() + log_evidence)
        self.begin()


class Unscaled(Rounds):
    """Rounds by the fewest calls of NumPy: the levels' sums are the rates' evidence since the last scaling.

    The posterior waits for :meth:`settle`, for so few rounds that no sum underflows.
    """

    def __init__(self, levels: Levels, top: LogPosterior, means: Floats) -> None:
        super().__init__(levels, top, means)
        self._ones: Floats = np.ones_like(means)
        self._least_log = math.log(levels.least_mixture)
        self._most = max(1, self._rounds_from(1.0))
        self._left, self._total = self._most, 1.0

    def learn(self, relative: Floats) -> float:
        """Learn one round, as scaled within rounding errors."""
        if not self._left:
            self.settle()
        self._levels.grow(relative)
        self._left -= 1
        return math.log(self._mean())

    def rate_weights(self) -> Floats:
        """Return the distribution over the rates, which nobody has scaled yet."""
        found: Floats = self._top.weights * self._ones.dot(self._levels.weights)
        return np.divide(found, np.add.reduce(found), out=found)

    def settle(self) -> None:
        """Scale the levels, and multiply the posterior by their evidence; weights move by rounding errors."""
        if self._left < self._most:
            self._top.observe(self._levels.scale())
            self.begin()

    def begin(self) -> None:
        """Go on from levels and posterior as they stand."""
        super().begin()
        self._left, self._total = self._most, 1.0

    def leap(self, log_evidence: Floats, weights: Floats) -> None:
        """Go on from there; nothing is scaled unless a sum would come near to underflow."""
        factors = np.exp(log_evidence - log_evidence.item(log_evidence.argmax()))
        sums = self._ones.dot(weights) * factors
        least = sums.item(sums.argmin())
        if least < _LEAST_SUM:
            super().leap(log_evidence, weights)
            return
        np.multiply(weights, factors, self._levels.weights)
        self._left = min(self._rounds_from(least), self._most - 1)
        self._mean()

    def _mean(self) -> float:
        """Bring the means up to date; return what the sum of all weights has become times."""
        means, before = self._means, self._total
        self._levels.weights.dot(self._top.weights, means)
        self._total = total = float(means.dot(self._ones))
        np.divide(means, total, means)
        return total / before

    def _rounds_from(self, least: float) -> int:
        """Return how many rounds can be learnt before a level that sums to *least* may underflow."""
        return int((LEAST_GAIN - math.log(least)) / self._least_log)


def by_numpy(levels: Levels, top: LogPosterior, means: Floats) -> Rounds:
    """Return what learns *levels*, *top* and *means* of :class:`Rounds` by the fewest calls of NumPy."""
    return (Unscaled if levels.is_plain else Rounds)(levels, top, means)
