"""Fixed-share with a general transition matrix between experts (thesis, eq. 2.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning import serialization
from psm_sim.learning.learner import Learner


class TransitionShare(Learner):
    """Learner whose best expert follows a Markov chain with known transition probabilities.

    Fixed-share and Static-expert are the special cases with 1 - alpha on the diagonal and alpha / (n - 1)
    elsewhere. The learner works in the log domain, so zeros in the matrix are exact. A round takes O(n^2)
    time.

    Parameters
    ----------
    transitions : array_like, shape (n, n)
        Row j holds P(i|j), the distribution of the next best expert after j. Each row sums to 1.

    Examples
    --------
    >>> learner = TransitionShare([[0.9, 0.1], [0.5, 0.5]])
    >>> _ = learner.update([0.0, math.log(3)])
    >>> learner.weights.round(6).tolist()  # 0.75 * (0.9, 0.1) + 0.25 * (0.5, 0.5)
    [0.8, 0.2]
    """

    name = "transition-share"

    def __init__(self, transitions: ArrayLike) -> None:
        self._transitions = check_stochastic(transitions)
        super().__init__(len(self._transitions))
        with np.errstate(divide="ignore"):
            self._log_transitions = np.log(self._transitions)
        self._log_weights: FloatArray = np.full(self.n_experts, -math.log(self.n_experts))

    def _learn(self, relative: FloatArray) -> float:
        joint = self._log_weights + relative
        log_likelihood = float(np.logaddexp.reduce(joint))
        if log_likelihood == -math.inf:
            raise self._no_weight_left_error()
        log_terms = (joint - log_likelihood)[:, None] + self._log_transitions
        log_weights = np.logaddexp.reduce(log_terms, axis=0)
        self._log_weights = log_weights - np.logaddexp.reduce(log_weights)
        np.exp(self._log_weights, out=self._weights)
        return -log_likelihood

    def _dump_state(self) -> dict[str, Any]:
        return {
            "transitions": self._transitions.tolist(),
            "log_weights": serialization.dump_log_weights(self._log_weights),
        }

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._expect(state, "transitions", self._transitions.tolist())
        self._log_weights = serialization.load_log_weights(state, "log_weights", self._shape, self.name)
        np.exp(self._log_weights, out=self._weights)


def check_stochastic(transitions: ArrayLike) -> FloatArray:
    """Return a transition matrix as a new array. Each row must be a distribution."""
    try:
        matrix = np.array(transitions, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the transitions must be a table of numbers, n rows of n.") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise InputError(f"the transitions must have n rows of n numbers, got shape {matrix.shape}.")
    for expert, row in enumerate(matrix):
        if not (row.min() >= 0 and abs(row.sum() - 1) < 1e-9):
            raise InputError(
                f"the transitions after expert {expert} must be nonnegative and sum to 1, got {row.tolist()}."
            )
    return matrix
