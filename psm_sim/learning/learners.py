"""Learners of the thesis: Static-expert, Fixed-share and Learn-alpha.

Source: thesis chapter 2; Herbster and Warmuth, "Tracking the best expert", Machine Learning 32 (1998).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.learning import input_checks, serialization
from psm_sim.learning.fixed_share_bank import FixedShareBank
from psm_sim.learning.learner import Learner
from psm_sim.learning.lookahead import Lookahead
from psm_sim.learning.posterior import LogPosterior
from psm_sim.learning.round_backends import make_backend


class StaticExpert(Learner):
    """Static-expert: Bayes' rule for one best expert, Fixed-share with alpha = 0 (section 2.2.1).

    Nothing is shared, so an expert that once lost ``inf`` has weight 0 from then on.

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
        gain = self._posterior.observe(relative)
        if gain == -math.inf:
            raise self._none_left()
        self._weights[:] = self._posterior.weights
        return -gain

    def _dump_state(self) -> dict[str, Any]:
        return {"log_weights": serialization.dump_log_weights(self._posterior.log_weights)}

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._posterior.restore(serialization.load_log_weights(state, "log_weights", self._shape, self.name))
        self._weights[:] = self._posterior.weights


class FixedShare(Learner):
    """Fixed-share: the best expert is taken to change with probability *alpha* in each round (2.3).

    Parameters
    ----------
    n_experts : int
        The number of experts, at least 1.
    alpha : float
        The switching rate, 0 to 1; the switched weight is shared evenly among the others.

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
        self._levels = FixedShareBank(self.n_experts, np.array([self.alpha]))

    def _learn(self, relative: FloatArray) -> float:
        gain = self._levels.evidence(relative).item(0)
        # Before share(), the only step that changes weights: a refused round changes nothing.
        if gain == -math.inf:
            raise self._none_left()
        self._levels.share()
        self._weights[:] = self._levels.weights[:, 0]
        return -gain

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a look at coming rounds that all have these losses."""
        return self._levels.lookahead(losses, np.ones(1))

    def _set_state(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        self._levels.take(weights)
        self._weights[:] = self._levels.weights[:, 0]

    def _dump_state(self) -> dict[str, Any]:
        return {"alpha": self.alpha, **serialization.dump_bank(self._levels)}

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._expect(state, "alpha", self.alpha)
        self._levels.restore(*serialization.load_bank(state, self._levels, self.name))
        self._weights[:] = self._levels.weights[:, 0]


class LearnAlpha(Learner):
    """Learn-alpha: learns the switching rate while it learns the expert (2.6-2.8).

    m Fixed-share algorithms, one per rate, run side by side; a Static-expert over their mixture losses
    weights them. O(m n) time per round, independent of the number of rounds.

    Parameters
    ----------
    n_experts : int
        The number of experts, at least 1.
    rates : array_like, shape (m,)
        The switching rates, 0 to 1; those of :func:`~psm_sim.learning.switching_rates` have the bound
        of Corollary 1.
    compiled : str
        ``yes``: each round is one call, compiled by Numba (``psm_sim[fast]``), its weights within 1e-9 of
        NumPy's; ``auto``: so after 100,000 rounds, if that can be; ``no``: by calls of NumPy.

    Examples
    --------
    >>> learner = LearnAlpha(n_experts=2, rates=[0.1, 0.5])
    >>> _ = learner.update([0.0, math.log(3)])
    >>> learner.weights.round(6).tolist()  # the mean of (0.7, 0.3) and (0.5, 0.5)
    [0.6, 0.4]
    """

    name = "learn-alpha"

    def __init__(self, n_experts: int, rates: ArrayLike, compiled: str = "no") -> None:
        super().__init__(n_experts)
        self._levels = FixedShareBank(self.n_experts, input_checks.check_rates(rates))
        self._top = LogPosterior(self._levels.rates.size)
        self.compiled = compiled
        self._rounds = make_backend(compiled, self._levels, self._top, self._weights)

    @property
    def rates(self) -> FloatArray:
        """A copy of the switching rates, shape (m,)."""
        return self._levels.rates.copy()

    @property
    def rate_weights(self) -> FloatArray:
        """A copy of the posterior over the switching rates (2.7), shape (m,); sums to 1."""
        return self._rounds.rate_weights()

    def _learn(self, relative: FloatArray) -> float:
        gain = self._rounds.learn(relative)
        if gain == -math.inf:
            raise self._none_left()
        return -gain

    @property
    def _sum(self) -> float:
        return self._rounds.total

    def lookahead(self, losses: FloatArray) -> Lookahead | None:
        """Return a look at coming rounds that all have these losses."""
        return self._rounds.lookahead(losses)

    def _set_state(self, log_evidence: FloatArray, weights: FloatArray) -> None:
        self._rounds.fast_forward(log_evidence, weights)

    def _dump_state(self) -> dict[str, Any]:
        self._rounds.flush()
        return {
            "rates": self._levels.rates.tolist(),
            "log_rate_weights": serialization.dump_log_weights(self._top.log_weights),
            **serialization.dump_bank(self._levels),
        }

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._expect(state, "rates", self._levels.rates.tolist())
        top = serialization.load_log_weights(state, "log_rate_weights", self._levels.rates.shape, self.name)
        levels = serialization.load_bank(state, self._levels, self.name)
        self._top.restore(top)
        self._levels.restore(*levels)
        self._rounds.begin()
