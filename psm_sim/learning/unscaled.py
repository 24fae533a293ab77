"""Rounds of Learn-alpha by calls of NumPy: scaled in each, or only when the levels' sums are read."""

from __future__ import annotations

import math

import numpy as np

from psm_sim.arrays import Floats
from psm_sim.learning.levels import Levels
from psm_sim.learning.posterior import LogPosterior

LEAST_GAIN = math.log(1e-150)
"""Logarithm of the least evidence that may gather before it is added to the posterior's logarithms."""


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
        """Go on from *weights*, (n, m), that are the levels' after rounds of some *log_evidence*, (m,)."""
        self._top.observe(log_evidence)
        self._levels.weights[:] = weights
        self.begin()


class Unscaled(Rounds):
    """Rounds by the fewest calls of NumPy: the levels' sums are the rates' evidence since the last scaling.

    The posterior waits for :meth:`settle`, for so few rounds that no sum underflows.
    """

    def __init__(self, levels: Levels, top: LogPosterior, means: Floats) -> None:
        super().__init__(levels, top, means)
        self._most = max(1, int(LEAST_GAIN / math.log(levels.least_mixture)))
        self._waiting, self._total = 0, 1.0

    def learn(self, relative: Floats) -> float:
        """Learn one round, as scaled within rounding errors."""
        if self._waiting == self._most:
            self.settle()
        levels, means, before = self._levels, self._means, self._total
        levels.grow(relative)
        levels.weights.dot(self._top.weights, means)
        self._total = total = float(np.add.reduce(means))
        np.divide(means, total, means)
        self._waiting += 1
        return math.log(total / before)

    def rate_weights(self) -> Floats:
        """Return the distribution over the rates, which nobody has scaled yet."""
        found: Floats = self._top.weights * np.add.reduce(self._levels.weights, axis=0)
        return np.divide(found, np.add.reduce(found), out=found)

    def settle(self) -> None:
        """Scale the levels, and multiply the posterior by their evidence; weights move by rounding errors."""
        if self._waiting:
            self._top.observe(self._levels.scale())
            self.begin()

    def begin(self) -> None:
        """Go on from levels and posterior as they stand."""
        super().begin()
        self._waiting, self._total = 0, 1.0


def by_numpy(levels: Levels, top: LogPosterior, means: Floats) -> Rounds:
    """Return what learns *levels*, *top* and *means* of :class:`Rounds` by the fewest calls of NumPy."""
    return (Unscaled if levels.is_plain else Rounds)(levels, top, means)
