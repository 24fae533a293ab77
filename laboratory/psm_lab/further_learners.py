"""Learners beyond the thesis: with eight rates, with a decreasing rate, and with past posteriors."""

from __future__ import annotations

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.parameters import Parameter
from psm_sim.learning import LearnAlpha, Learner


class ShortLearnAlpha(LearnAlpha):
    """Learn-alpha learner with eight switching rates, equally spaced on a logarithmic scale.

    It needs no horizon, and a round takes less time than with the rates of the thesis. Its loss exceeds that
    of Fixed-share with the best of its rates by at most log 8 nats. The bound of Corollary 1, against any
    switching rate, does not apply.

    Parameters
    ----------
    n_experts : int
        Number of experts, at least 1.

    Examples
    --------
    >>> ShortLearnAlpha(n_experts=2).rates.round(4).tolist()
    [0.0001, 0.0003, 0.0011, 0.0038, 0.013, 0.0439, 0.1481, 0.5]
    """

    name = "short-learn-alpha"

    def __init__(self, n_experts: int) -> None:
        super().__init__(n_experts, np.geomspace(1e-4, 0.5, 8))


class DecreasingShare(Learner):
    """Fixed-share learner with the switching rate 1 / (t + 1) after round t.

    The learner has no parameter and needs no horizon (Adamskiy, Koolen, Chernov and Vovk, "A closer look at
    adaptive regret", Journal of Machine Learning Research 17, 2016). A round takes O(n) time.

    Parameters
    ----------
    n_experts : int
        Number of experts, at least 1.

    Examples
    --------
    >>> import math
    >>> learner = DecreasingShare(n_experts=3)
    >>> _ = learner.update([0.0, math.log(3), math.log(3)])
    >>> learner.weights.round(6).tolist()  # 1/2 * (0.6, 0.2, 0.2) + 1/4 * (0.4, 0.8, 0.8)
    [0.4, 0.3, 0.3]
    """

    name = "decreasing-share"

    @property
    def alpha(self) -> float:
        """Switching rate after the next round."""
        return 1 / (self.rounds + 2)

    def learn(self, log_likelihoods: FloatArray) -> float:
        """Learn one round."""
        posterior = np.exp(log_likelihoods) * self.weights
        total = float(posterior.sum())
        posterior /= total
        if self.n_experts > 1:
            share = self.alpha / (self.n_experts - 1)
            posterior = (1 - self.alpha) * posterior + share * (1 - posterior)
        self.weights = posterior
        return -float(np.log(total))


class MixingPastPosteriors(Learner):
    """Learner for traffic in which a few experts are best again and again.

    The weights of the next round are the last posterior with the factor 1 - *alpha*, plus the mean of all
    earlier posteriors with the factor *alpha* (Bousquet and Warmuth, "Tracking a small set of experts by
    mixing past posteriors", Journal of Machine Learning Research 3, 2002, scheme "uniform past"). An expert
    that was best before therefore recovers faster than under Fixed-share. The mean is updated in each round,
    so a round takes O(n) time and no history is kept.

    Parameters
    ----------
    n_experts : int
        Number of experts, at least 1.
    alpha : float
        Share of the earlier posteriors, above 0 and at most 1.

    Examples
    --------
    >>> import math
    >>> learner = MixingPastPosteriors(n_experts=2, alpha=0.1)
    >>> _ = learner.update([0.0, math.log(3)])
    >>> learner.weights.round(6).tolist()  # 0.9 * (0.75, 0.25) + 0.1 * (0.5, 0.5)
    [0.725, 0.275]
    """

    name = "mixing-past"

    def __init__(self, n_experts: int, alpha: float = 0.02) -> None:
        super().__init__(n_experts)
        self.alpha: float = Parameter("alpha", 0.02, above=0, at_most=1).check(alpha, self.name)
        self._past: FloatArray = self.weights

    def learn(self, log_likelihoods: FloatArray) -> float:
        """Learn one round."""
        posterior = np.exp(log_likelihoods) * self.weights
        total = float(posterior.sum())
        posterior /= total
        # ``_past`` is the mean of the uniform distribution and the posteriors of all earlier rounds.
        self.weights = (1 - self.alpha) * posterior + self.alpha * self._past
        self._past += (posterior - self._past) / (self.rounds + 2)
        return -float(np.log(total))
