"""Learners of the thesis: Static-expert, Fixed-share and Learn-alpha.

Sources: thesis, chapter 2; Herbster and Warmuth, "Tracking the best expert", Machine Learning 32 (1998).

The idea fits in a few lines. :class:`LearnAlpha` computes the same weights without underflow, and learns many
rounds with the same losses at once.

>>> def plain_learn_alpha(losses, rates):
...     n, m = losses.shape[1], len(rates)
...     weights = np.full((m, n), 1 / n)  # of the experts, at each rate
...     rate_weights = np.full(m, 1 / m)
...     keep, share = (1 - rates)[:, None], (rates / (n - 1))[:, None]
...     for loss in losses:
...         joint = weights * np.exp(-loss)
...         evidence = joint.sum(axis=1)  # eq. 2.6
...         rate_weights = rate_weights * evidence / (rate_weights @ evidence)  # eq. 2.7
...         posterior = joint / evidence[:, None]  # eq. 2.2
...         weights = keep * posterior + share * (1 - posterior)  # eq. 2.3
...     return rate_weights @ weights, rate_weights  # eq. 2.8
>>> losses, rates = np.array([[0.1, 1.0, 2.0], [1.5, 0.2, 1.0]]), np.array([0.01, 0.1, 0.5])
>>> learner = LearnAlpha(3, rates)
>>> for loss in losses:
...     _ = learner.update(loss)
>>> np.allclose(learner.weights, plain_learn_alpha(losses, rates)[0], rtol=1e-13)
True
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.parameters import Parameter
from psm_sim.learning.fixed_share_bank import FixedShareBank
from psm_sim.learning.learner import Learner
from psm_sim.learning.repeated_loss_lookahead import Lookahead
from psm_sim.learning.switching_rates import check_rates


class LogPosterior:
    """Weights proportional to exp(accumulated log evidence).

    For experts, these are the weights of Static-expert; for switching rates, those of Learn-alpha (thesis,
    eq. 2.7). The logarithms are stored, so a weight that underflows can recover later.

    Attributes
    ----------
    weights : ndarray, shape (size,)
        Distribution; sums to 1.
    """

    def __init__(self, size: int) -> None:
        self.weights: FloatArray = np.empty(size)
        self._log_weights: FloatArray = np.zeros(size)  # up to a constant, with maximum 0
        self._sum: FloatArray = np.empty(size)
        self._log_total = self._normalise()

    def observe(self, log_evidence: FloatArray) -> float:
        """Multiply the weights by exp(*log_evidence*), shape (size,).

        Returns
        -------
        float
            ``log(sum_j weights[j] exp(log_evidence[j]))``. If it is ``-inf``, the weights are unchanged.
        """
        np.add(self._log_weights, log_evidence, out=self._sum)
        maximum = self._sum.item(self._sum.argmax())
        if maximum == -math.inf:
            return maximum
        # Subtract the maximum, so that the largest exp() is exactly 1, and add it to the result again.
        np.subtract(self._sum, maximum, out=self._log_weights)
        previous_log_total, self._log_total = self._log_total, self._normalise()
        return maximum + self._log_total - previous_log_total

    def _normalise(self) -> float:
        np.exp(self._log_weights, out=self.weights)
        total = float(np.add.reduce(self.weights))
        np.divide(self.weights, total, out=self.weights)
        return math.log(total)


class StaticExpert(Learner):
    """Static-expert learner: Bayes' rule for one best expert.

    This is Fixed-share with alpha = 0 (thesis, section 2.2.1). An expert with one infinite loss has weight 0
    from then on.

    Parameters
    ----------
    n_experts : int
        Number of experts, at least 1.

    Examples
    --------
    >>> learner = StaticExpert(n_experts=2)
    >>> round(learner.update([0.0, math.log(3)]), 6)  # -log(1/2 + 1/6)
    0.405465
    >>> learner.weights.round(6).tolist()
    [0.75, 0.25]
    """

    name = "static-expert"

    def __init__(self, n_experts: int) -> None:
        super().__init__(n_experts)
        self._posterior = LogPosterior(self.n_experts)

    def learn(self, log_likelihoods: FloatArray) -> float:
        """Learn one round."""
        log_likelihood = self._posterior.observe(log_likelihoods)
        self._weights[:] = self._posterior.weights
        return -log_likelihood


class FixedShare(Learner):
    """Fixed-share learner: the best expert changes with probability *alpha* per round.

    See thesis, eq. 2.3.

    Parameters
    ----------
    n_experts : int
        Number of experts, at least 1.
    alpha : float
        Switching rate, 0 to 1. The weight alpha is shared evenly among the other experts.

    Examples
    --------
    >>> learner = FixedShare(n_experts=2, alpha=0.1)
    >>> _ = learner.update([0.0, math.log(3)])
    >>> learner.weights.round(6).tolist()  # 0.9 * 0.75 + 0.1 * 0.25
    [0.7, 0.3]
    """

    name = "fixed-share"

    def __init__(self, n_experts: int, alpha: float) -> None:
        super().__init__(n_experts)
        self.alpha: float = Parameter("alpha", 0.0, at_least=0, at_most=1).check(alpha, self.name)
        self._bank = FixedShareBank(self.n_experts, np.array([self.alpha]))

    def learn(self, log_likelihoods: FloatArray) -> float:
        """Learn one round."""
        log_likelihood = self._bank.evidence(log_likelihoods).item(0)
        if log_likelihood > -math.inf:
            self._bank.share()
            self._weights[:] = self._bank.weights[:, 0]
        return -log_likelihood

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a lookahead on future rounds that all have these losses."""
        return self._bank.lookahead(losses, np.ones(1), self._skip)

    def _skip(self, rounds: int, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Set the state after *rounds* rounds, which a lookahead has computed."""
        self.rounds += rounds
        self._bank.set_weights(weights)
        self._weights[:] = self._bank.weights[:, 0]


_MIN_GAIN = math.log(1e-150)
"""Logarithm of the smallest evidence that may accumulate before it is added to the log-weights."""
_MIN_WEIGHT = 1e-150
"""Lower limit of a rate's weight at the start of an accumulation, far below any visible effect."""


class LearnAlpha(Learner):
    """Learn-alpha learner: learns the switching rate together with the expert.

    It runs m Fixed-share learners, one per rate. A Static-expert learner weights them by their mixture losses
    (thesis, eqs. 2.6 to 2.8). A round takes O(m n) time, independently of the number of rounds.

    The weight of a rate is multiplied by its evidence in each round. The logarithms of the weights are
    updated only every few rounds, before a weight could underflow. This saves a quarter of the time of a
    round, 8 % of the time of a page with ``lpsm`` and 17 % of the time of a replay. With rates in the log
    domain, the logarithms are updated in every round.

    Parameters
    ----------
    n_experts : int
        Number of experts, at least 1.
    rates : array_like, shape (m,)
        Switching rates, 0 to 1. The regret bound of Corollary 1 applies to the rates of
        :func:`~psm_sim.learning.switching_rates`.

    Examples
    --------
    >>> learner = LearnAlpha(n_experts=2, rates=[0.1, 0.5])
    >>> _ = learner.update([0.0, math.log(3)])
    >>> learner.weights.round(6).tolist()  # the mean of (0.7, 0.3) and (0.5, 0.5)
    [0.6, 0.4]
    """

    name = "learn-alpha"

    def __init__(self, n_experts: int, rates: ArrayLike) -> None:
        super().__init__(n_experts)
        self._bank = FixedShareBank(self.n_experts, check_rates(rates))
        self._posterior = LogPosterior(self._bank.rates.size)
        self._accumulates = self._bank.is_linear
        self._ones: FloatArray = np.ones(self.n_experts)
        self._min_log_mixture = math.log(self._bank.min_mixture) if self._accumulates else -math.inf
        self._max_rounds = max(1, self._rounds_until_underflow(_MIN_WEIGHT))
        self._start_accumulation()

    @property
    def rates(self) -> FloatArray:
        """Copy of the switching rates, shape (m,)."""
        return self._bank.rates.copy()

    @property
    def rate_weights(self) -> FloatArray:
        """Copy of the posterior over the switching rates (thesis, eq. 2.7), shape (m,)."""
        if not self._accumulates:
            return self._posterior.weights.copy()
        normalised: FloatArray = self._posterior.weights * (self._rate_weights / self._start)
        return np.divide(normalised, np.add.reduce(normalised), out=normalised)

    def learn(self, log_likelihoods: FloatArray) -> float:
        """Learn one round."""
        if not self._accumulates:
            return self._learn_normalised(log_likelihoods)
        if not self._rounds_left:
            self._posterior.observe(np.log(self._rate_weights / self._start))
            self._start_accumulation()
        self._rounds_left -= 1
        np.multiply(self._rate_weights, self._bank.mixture(log_likelihoods), self._rate_weights)
        self._bank.share()
        return -math.log(self._mix())

    def _learn_normalised(self, relative: FloatArray) -> float:
        log_likelihood = self._posterior.observe(self._bank.evidence(relative))
        if log_likelihood > -math.inf:
            self._bank.share()
            np.dot(self._bank.weights, self._posterior.weights, out=self._weights)
        return -log_likelihood

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a lookahead on future rounds that all have these losses."""
        return self._bank.lookahead(losses, self._rate_weights, self._skip)

    def _skip(self, rounds: int, log_evidence: FloatArray, weights: FloatArray) -> None:
        """Set the state after *rounds* rounds, which a lookahead has computed.

        The posterior is updated only if a weight is close to underflow.
        """
        self.rounds += rounds
        sums = self._bank.set_weights(weights)
        accumulated = np.exp(log_evidence - log_evidence.item(log_evidence.argmax()))
        accumulated *= sums
        accumulated *= self._rate_weights
        rounds_left = self._rounds_until_underflow(accumulated.item(accumulated.argmin()))
        if rounds_left > 0:
            self._rate_weights[:] = accumulated
            self._rounds_left = min(rounds_left, self._max_rounds - 1)
        else:
            self._posterior.observe(np.log(self._rate_weights / self._start) + np.log(sums) + log_evidence)
            self._start_accumulation()
        self._mix()

    def _start_accumulation(self) -> None:
        """Start to accumulate evidence."""
        self._start: FloatArray = np.maximum(self._posterior.weights, _MIN_WEIGHT)
        self._rate_weights: FloatArray = self._start.copy()
        self._rounds_left, self._sum = self._max_rounds, 1.0

    def _mix(self) -> float:
        """Update the weights of the experts and return the ratio of their sum to the previous sum."""
        previous_sum = self._sum
        self._bank.weights.dot(self._rate_weights, self._weights)
        self._sum = float(self._weights.dot(self._ones))
        return self._sum / previous_sum

    def _rounds_until_underflow(self, min_weight: float) -> int:
        """Return the number of rounds until a rate's weight, now at least *min_weight*, may underflow."""
        return int((2 * _MIN_GAIN - math.log(min_weight)) / self._min_log_mixture) if min_weight > 0 else 0
