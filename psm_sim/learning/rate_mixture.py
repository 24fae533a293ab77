"""Mixture of Fixed-share learners over the switching rates, the upper level of Learn-alpha."""

from __future__ import annotations

import math

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.learning.fixed_share_bank import FixedShareBank
from psm_sim.learning.repeated_loss_lookahead import Lookahead


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


_MIN_GAIN = math.log(1e-150)
"""Logarithm of the smallest evidence that may accumulate before it is added to the log-weights."""
_MIN_WEIGHT = 1e-150
"""Lower limit of a rate's weight at the start of an accumulation, far below any visible effect."""


class RateMixture:
    """Mixture that is normalised in every round.

    Parameters
    ----------
    bank : FixedShareBank
        Distributions over the experts, one per switching rate. Updated in every round.
    rate_posterior : LogPosterior
        Posterior over the rates. Updated in every round.
    means : ndarray, shape (n,)
        Output array for the distribution over the experts, multiplied by :attr:`total`.
    """

    def __init__(self, bank: FixedShareBank, rate_posterior: LogPosterior, means: FloatArray) -> None:
        self._bank, self._rate_posterior, self._means = bank, rate_posterior, means

    @property
    def total(self) -> float:
        """Sum of the means."""
        return 1.0

    def learn(self, relative: FloatArray) -> float:
        """Learn one round and return the log-likelihood of the mixture.

        Parameters
        ----------
        relative : ndarray, shape (n,)
            Log-likelihoods of the experts, whose maximum is 0.

        Returns
        -------
        float
            If it is ``-inf``, nothing has changed.
        """
        log_likelihood = self._rate_posterior.observe(self._bank.evidence(relative))
        if log_likelihood > -math.inf:
            self._bank.share()
            np.dot(self._bank.weights, self._rate_posterior.weights, out=self._means)
        return log_likelihood

    def rate_weights(self) -> FloatArray:
        """Return a copy of the distribution over the rates, shape (m,)."""
        return self._rate_posterior.weights.copy()

    def flush(self) -> None:
        """Bring the posterior up to date. Call it before reading the posterior."""

    def reload(self) -> None:
        """Continue from the current bank and posterior. Call it after setting them."""
        np.dot(self._bank.weights, self._rate_posterior.weights, out=self._means)

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a lookahead on future rounds that all have these *losses*, shape (n,), in nats."""
        return self._bank.lookahead(losses, self._rate_posterior.weights)

    def fast_forward(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Continue after several identical rounds.

        Parameters
        ----------
        log_evidence : ndarray, shape (m,)
            Log evidence of each rate, without the factor in the sums of the weights.
        weights : ndarray, shape (n, m)
            Unnormalised weights of the experts at each rate.
        """
        self._rate_posterior.observe(log_evidence + np.log(self._bank.set_weights(weights)))
        self.reload()


class LazyRateMixture(RateMixture):
    """Mixture that is normalised once in many rounds.

    This saves a quarter of a round of Learn-alpha, which is 8 % of a page of ``lpsm`` and 17 % of a replay.
    It requires a bank without log-domain rates.

    The weight of a rate is multiplied by its evidence. :meth:`flush` updates the log-weights, after so few
    rounds that no weight underflows.

    Parameters
    ----------
    bank, rate_posterior, means
        See :class:`RateMixture`.
    """

    def __init__(self, bank: FixedShareBank, rate_posterior: LogPosterior, means: FloatArray) -> None:
        super().__init__(bank, rate_posterior, means)
        self._ones: FloatArray = np.ones_like(means)
        self._min_log_mixture = math.log(bank.min_mixture)
        self._max_rounds = max(1, self._rounds_until_underflow(_MIN_WEIGHT))
        self._start_accumulation()

    @property
    def total(self) -> float:
        """Sum of the means and of the rates' weights."""
        return self._total

    def learn(self, relative: FloatArray) -> float:
        """Learn one round. Equivalent to :class:`RateMixture` up to rounding."""
        if not self._rounds_left:
            self.flush()
        self._rounds_left -= 1
        bank, rate_weights = self._bank, self._rate_weights
        np.multiply(rate_weights, bank.mixture(relative), rate_weights)
        bank.share()
        return math.log(self._mix())

    def rate_weights(self) -> FloatArray:
        """Return the normalised distribution over the rates, shape (m,)."""
        normalised: FloatArray = self._rate_posterior.weights * (self._rate_weights / self._start)
        return np.divide(normalised, np.add.reduce(normalised), out=normalised)

    def flush(self) -> None:
        """Multiply the posterior by the accumulated evidence. Weights change by rounding errors."""
        if self._rounds_left < self._max_rounds:
            self._rate_posterior.observe(np.log(self._rate_weights / self._start))
            self.reload()

    def reload(self) -> None:
        """Continue from the current bank and posterior."""
        super().reload()
        self._start_accumulation()

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a lookahead on future rounds, with the accumulated weights."""
        return self._bank.lookahead(losses, self._rate_weights)

    def fast_forward(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Continue after several identical rounds.

        The log-weights are updated only if a weight is close to underflow. Arguments as for
        :meth:`RateMixture.fast_forward`.
        """
        sums = self._bank.set_weights(weights)
        accumulated = np.exp(log_evidence - log_evidence.item(log_evidence.argmax()))
        accumulated *= sums
        accumulated *= self._rate_weights
        rounds_left = self._rounds_until_underflow(accumulated.item(accumulated.argmin()))
        if rounds_left > 0:
            self._rate_weights[:] = accumulated
            self._rounds_left = min(rounds_left, self._max_rounds - 1)
        else:
            self._rate_posterior.observe(
                np.log(self._rate_weights / self._start) + np.log(sums) + log_evidence
            )
            self._start_accumulation()
        self._mix()

    def _start_accumulation(self) -> None:
        """Start to accumulate evidence."""
        self._start: FloatArray = np.maximum(self._rate_posterior.weights, _MIN_WEIGHT)
        self._rate_weights: FloatArray = self._start.copy()
        self._rounds_left, self._total = self._max_rounds, 1.0

    def _mix(self) -> float:
        """Update the means and return the ratio of their sum to the previous sum."""
        previous_total = self._total
        self._bank.weights.dot(self._rate_weights, self._means)
        self._total = float(self._means.dot(self._ones))
        return self._total / previous_total

    def _rounds_until_underflow(self, min_weight: float) -> int:
        """Return the number of rounds until a rate's weight, now at least *min_weight*, may underflow."""
        return int((2 * _MIN_GAIN - math.log(min_weight)) / self._min_log_mixture) if min_weight > 0 else 0


def make_rate_mixture(bank: FixedShareBank, rate_posterior: LogPosterior, means: FloatArray) -> RateMixture:
    """Create the fastest mixture for *bank*.

    Parameters
    ----------
    bank, rate_posterior, means
        See :class:`RateMixture`.
    """
    return (LazyRateMixture if bank.is_linear else RateMixture)(bank, rate_posterior, means)
