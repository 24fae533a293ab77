"""Pool rules: choose the next instance of a pool to label, given a linear separator ([003] 5.4.5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.parameters import check_all, parameter
from psm_sim.common.registry import Registry
from psm_sim.lab.active.linear_separator import fit_linear
from psm_sim.lab.active.serializable import Serializable

if TYPE_CHECKING:
    from psm_sim.lab.active.pool_learner import PoolLearner

_FOLDS = 5
_CHECKED_FROM, _CHECKED_EVERY = 10, 5


class PoolRule(Serializable, ABC):
    """Base class of rules that choose among the unlabelled instances of a :class:`PoolLearner`."""

    name = "pool-rule"

    loss = "squared-hinge"
    """Loss of the fitted separator."""

    def __post_init__(self) -> None:
        check_all(self, self.name)

    @abstractmethod
    def choose(self, learner: PoolLearner, rng: np.random.Generator) -> int:
        """Return a position in ``learner.unlabelled``, with random numbers from *rng*."""


@dataclass
class RandomRule(PoolRule):
    """Passive sampling of any unlabelled instance."""

    name = "random"

    def choose(self, learner: PoolLearner, rng: np.random.Generator) -> int:
        """Return a random position."""
        return int(rng.integers(learner.unlabelled.size))


@dataclass
class NearestRule(PoolRule):
    """MU: the instance nearest to the separator; ties go to the first."""

    name = "mu"

    def choose(self, learner: PoolLearner, rng: np.random.Generator) -> int:
        """Return the position of the nearest instance."""
        return int(np.abs(learner.distances()).argmin())


@dataclass
class LogisticRule(NearestRule):
    """LMU_logReg: the instance with the least certain label under a logistic regression."""

    name = "lmu-logreg"
    loss = "logistic"


@dataclass
class IsalpRule(PoolRule):
    """ISALp: random choice that prefers near instances, then MU once cross validation succeeds.

    The probability of an instance is proportional to exp(-distance^2 / sigma^2). Cross validation runs every
    5 labels from the 10th on. A 5-fold error of at most *switch* ends the random choice permanently.
    """

    sigma: float = parameter(1.0, "bandwidth, in units of x", above=0)
    switch: float = parameter(
        0.2, "cross-validation error that ends the random choice", at_least=0, at_most=1
    )
    switched: bool = field(default=False, init=False)

    name = "isalp"
    state_attributes = ("switched",)

    def choose(self, learner: PoolLearner, rng: np.random.Generator) -> int:
        """Return the position of a random instance near the separator, or of the nearest instance."""
        self.switched = self.switched or (_is_check_due(len(learner)) and self._passes_check(learner))
        distances = np.abs(learner.distances())
        if self.switched:
            return int(distances.argmin())
        weights = np.exp((distances.min() ** 2 - distances**2) / self.sigma**2)
        return int(rng.choice(weights.size, p=weights / weights.sum()))

    def _passes_check(self, learner: PoolLearner) -> bool:
        return cross_validation_error(learner.x, learner.y, learner.C) <= self.switch


def _is_check_due(labels: int) -> bool:
    return labels >= _CHECKED_FROM and (labels - _CHECKED_FROM) % _CHECKED_EVERY == 0


def cross_validation_error(x: FloatArray, y: IntArray, C: float) -> float:
    """Return the 5-fold error of the linear fit.

    Instances i, i + 5, i + 10, ... form one fold.

    Parameters
    ----------
    x : ndarray, shape (n, d)
        Instances, at least 5.
    y : ndarray, shape (n,)
        Labels, -1 or 1.
    C : float
        Weight of the loss.
    """
    folds = np.arange(len(y)) % _FOLDS
    wrong = [
        fit_linear(x[folds != fold], y[folds != fold], C=C).predict(x[folds == fold]) != y[folds == fold]
        for fold in range(_FOLDS)
    ]
    return float(np.concatenate(wrong).mean())


POOL_RULES: Registry[PoolRule] = Registry(
    "pool rule",
    PoolRule,
    {
        "random": "psm_sim.lab.active.pool_selection_rules:RandomRule",
        "mu": "psm_sim.lab.active.pool_selection_rules:NearestRule",
        "isalp": "psm_sim.lab.active.pool_selection_rules:IsalpRule",
        "lmu-logreg": "psm_sim.lab.active.pool_selection_rules:LogisticRule",
    },
)
"""Pool rules by name."""
