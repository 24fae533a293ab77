"""Rounds of Learn-alpha by calls of NumPy: the rates' weights scaled in each, or only when they are read."""

from __future__ import annotations

import math

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.learning.fixed_share_bank import FixedShareBank
from psm_sim.learning.lookahead import Lookahead
from psm_sim.learning.posterior import LogPosterior

MIN_GAIN = math.log(1e-150)
"""Logarithm of the least evidence that may gather before it is added to the posterior's logarithms."""
_MIN_WEIGHT = 1e-150
"""The least that a rate's weight is taken for when evidence begins to gather; far below what can be seen."""


class NumpyBackend:
    """Rounds by calls of NumPy, each of which is one walk over an array.

    Parameters
    ----------
    levels : Levels
        The distributions over the experts, one per switching rate; revised by each round.
    top : LogPosterior
        The posterior over the rates; revised by each round.
    means : ndarray, shape (n,)
        Where each round puts the distribution over the experts, times :attr:`total`.
    """

    def __init__(self, levels: FixedShareBank, top: LogPosterior, means: FloatArray) -> None:
        self._levels, self._top, self._means = levels, top, means

    @property
    def total(self) -> float:
        """What the means add up to."""
        return 1.0

    def learn(self, relative: FloatArray) -> float:
        """Learn one round of log-likelihoods *relative*, (n,), maximum 0; return that of their mixture.

        If it is ``-inf`` nothing is changed.
        """
        gain = self._top.observe(self._levels.evidence(relative))
        if gain > -math.inf:
            self._levels.share()
            np.dot(self._levels.weights, self._top.weights, out=self._means)
        return gain

    def rate_weights(self) -> FloatArray:
        """Return the distribution over the rates, shape (m,), in an array of its own."""
        return self._top.weights.copy()

    def flush(self) -> None:
        """Bring the posterior up to date; call it before it is read."""

    def begin(self) -> None:
        """Go on from levels and posterior as they stand; call it after they were set."""
        np.dot(self._levels.weights, self._top.weights, out=self._means)

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a look at coming rounds that all have these *losses*, (n,), in nats."""
        return self._levels.lookahead(losses, self._top.weights)

    def fast_forward(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Go on from *weights*, (n, m), whose sums are evidence of the rates beside *log_evidence*, (m,)."""
        self._top.observe(log_evidence + np.log(self._levels.take(weights)))
        self.begin()


class LazyNumpyBackend(NumpyBackend):
    """Rounds by the fewest calls of NumPy: a rate's weight is multiplied by its evidence, and not scaled.

    The posterior's logarithms wait for :meth:`settle`, for so few rounds that no weight underflows.
    """

    def __init__(self, levels: FixedShareBank, top: LogPosterior, means: FloatArray) -> None:
        super().__init__(levels, top, means)
        self._ones: FloatArray = np.ones_like(means)
        self._least_log = math.log(levels.least_mixture)
        self._most = max(1, self._rounds_from(_MIN_WEIGHT))
        self._gather()

    @property
    def total(self) -> float:
        """What the means, and the weights of the rates, add up to."""
        return self._total

    def learn(self, relative: FloatArray) -> float:
        """Learn one round, as scaled within rounding errors."""
        if not self._left:
            self.flush()
        self._left -= 1
        levels, rate_weights = self._levels, self._rate_weights
        np.multiply(rate_weights, levels.mixture(relative), rate_weights)
        levels.share()
        return math.log(self._mix())

    def rate_weights(self) -> FloatArray:
        """Return the distribution over the rates, of which nothing has been scaled yet."""
        found: FloatArray = self._top.weights * (self._rate_weights / self._start)
        return np.divide(found, np.add.reduce(found), out=found)

    def flush(self) -> None:
        """Multiply the posterior by the evidence gathered; weights move by rounding errors."""
        if self._left < self._most:
            self._top.observe(np.log(self._rate_weights / self._start))
            self.begin()

    def begin(self) -> None:
        """Go on from levels and posterior as they stand."""
        super().begin()
        self._gather()

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a look at coming rounds, under the weights gathered so far."""
        return self._levels.lookahead(losses, self._rate_weights)

    def fast_forward(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Go on from there, without the logarithms unless a weight would come near to underflow."""
        sums = self._levels.take(weights)
        gathered = np.exp(log_evidence - log_evidence.item(log_evidence.argmax()))
        gathered *= sums
        gathered *= self._rate_weights
        left = self._rounds_from(gathered.item(gathered.argmin()))
        if left > 0:
            self._rate_weights[:] = gathered
            self._left = min(left, self._most - 1)
        else:
            self._top.observe(np.log(self._rate_weights / self._start) + np.log(sums) + log_evidence)
            self._gather()
        self._mix()

    def _gather(self) -> None:
        """Begin to gather evidence."""
        self._start: FloatArray = np.maximum(self._top.weights, _MIN_WEIGHT)
        self._rate_weights: FloatArray = self._start.copy()
        self._left, self._total = self._most, 1.0

    def _mix(self) -> float:
        """Mix the levels; return how much their weights add up to beside what they did."""
        before = self._total
        self._levels.weights.dot(self._rate_weights, self._means)
        self._total = float(self._means.dot(self._ones))
        return self._total / before

    def _rounds_from(self, least: float) -> int:
        """Return how many rounds can be learnt before the *least* weight of a rate may underflow."""
        return int((2 * MIN_GAIN - math.log(least)) / self._least_log) if least > 0 else 0


def make_numpy_backend(levels: FixedShareBank, top: LogPosterior, means: FloatArray) -> NumpyBackend:
    """Create the fastest NumPy backend; *levels*, *top* and *means* as for :class:`NumpyBackend`."""
    return (LazyNumpyBackend if levels.is_plain else NumpyBackend)(levels, top, means)
