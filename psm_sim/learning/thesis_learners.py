"""Learners of the thesis: Static-expert, Fixed-share and Learn-alpha.

Sources: thesis, chapter 2; Herbster and Warmuth, "Tracking the best expert", Machine Learning 32 (1998).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.learning import input_checks, serialization
from psm_sim.learning.fixed_share_bank import FixedShareBank
from psm_sim.learning.learner import Learner
from psm_sim.learning.rate_mixture import LogPosterior, make_rate_mixture
from psm_sim.learning.repeated_loss_lookahead import Lookahead


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

    def _learn(self, relative: FloatArray) -> float:
        log_likelihood = self._posterior.observe(relative)
        if log_likelihood == -math.inf:
            raise self._no_weight_left_error()
        self._weights[:] = self._posterior.weights
        return -log_likelihood

    def _dump_state(self) -> dict[str, Any]:
        return {"log_weights": serialization.dump_log_weights(self._posterior.log_weights)}

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._posterior.restore(serialization.load_log_weights(state, "log_weights", self._shape, self.name))
        self._weights[:] = self._posterior.weights


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
        self.alpha = input_checks.check_probability(alpha, f"{self.name}: alpha")
        self._bank = FixedShareBank(self.n_experts, np.array([self.alpha]))

    def _learn(self, relative: FloatArray) -> float:
        log_likelihood = self._bank.evidence(relative).item(0)
        # Raise before share(), the first step that changes weights, so that a rejected round has no effect.
        if log_likelihood == -math.inf:
            raise self._no_weight_left_error()
        self._bank.share()
        self._weights[:] = self._bank.weights[:, 0]
        return -log_likelihood

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a lookahead on future rounds that all have these losses."""
        return self._bank.lookahead(losses, np.ones(1))

    def _set_state(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        self._bank.set_weights(weights)
        self._weights[:] = self._bank.weights[:, 0]

    def _dump_state(self) -> dict[str, Any]:
        return {"alpha": self.alpha, **serialization.dump_bank(self._bank)}

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._expect(state, "alpha", self.alpha)
        self._bank.restore(*serialization.load_bank(state, self._bank, self.name))
        self._weights[:] = self._bank.weights[:, 0]


class LearnAlpha(Learner):
    """Learn-alpha learner: learns the switching rate together with the expert.

    It runs m Fixed-share learners, one per rate. A Static-expert over their mixture losses weights them
    (thesis, eqs. 2.6 to 2.8). A round takes O(m n) time, independently of the number of rounds.

    Parameters
    ----------
    n_experts : int
        Number of experts, at least 1.
    rates : array_like, shape (m,)
        Switching rates, 0 to 1. The rates of :func:`~psm_sim.learning.switching_rates` have the bound of
        Corollary 1.

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
        self._bank = FixedShareBank(self.n_experts, input_checks.check_rates(rates))
        self._rate_posterior = LogPosterior(self._bank.rates.size)
        self._mixture = make_rate_mixture(self._bank, self._rate_posterior, self._weights)

    @property
    def rates(self) -> FloatArray:
        """Copy of the switching rates, shape (m,)."""
        return self._bank.rates.copy()

    @property
    def rate_weights(self) -> FloatArray:
        """Copy of the posterior over the switching rates (thesis, eq. 2.7), shape (m,)."""
        return self._mixture.rate_weights()

    def _learn(self, relative: FloatArray) -> float:
        log_likelihood = self._mixture.learn(relative)
        if log_likelihood == -math.inf:
            raise self._no_weight_left_error()
        return -log_likelihood

    @property
    def _sum(self) -> float:
        return self._mixture.total

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a lookahead on future rounds that all have these losses."""
        return self._mixture.lookahead(losses)

    def _set_state(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        self._mixture.fast_forward(log_evidence, weights)

    def _dump_state(self) -> dict[str, Any]:
        self._mixture.flush()
        return {
            "rates": self._bank.rates.tolist(),
            "log_rate_weights": serialization.dump_log_weights(self._rate_posterior.log_weights),
            **serialization.dump_bank(self._bank),
        }

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._expect(state, "rates", self._bank.rates.tolist())
        log_rate_weights = serialization.load_log_weights(
            state, "log_rate_weights", self._bank.rates.shape, self.name
        )
        bank_state = serialization.load_bank(state, self._bank, self.name)
        self._rate_posterior.restore(log_rate_weights)
        self._bank.restore(*bank_state)
        self._mixture.reload()
