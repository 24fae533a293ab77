"""Pool rules: which instance of a pool to label next, given a linear separator ([003] 5.4.5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from psm_sim.array_types import FloatArray, IntArray
from psm_sim.lab.active.linear_separator import fit_linear
from psm_sim.lab.active.serializable import Serializable
from psm_sim.parameters import check_all, parameter
from psm_sim.registry import Registry

if TYPE_CHECKING:
    from psm_sim.lab.active.pool_learner import PoolLearner

_FOLDS = 5
_CHECKED_FROM, _CHECKED_EVERY = 10, 5


class PoolRule(Serializable, ABC):
    """Base class: chooses among the unlabelled instances of a :class:`PoolLearner`."""

    name = "pool-rule"

    loss = "squared-hinge"
    """Of the separator that is fitted."""

    def __post_init__(self) -> None:
        check_all(self, self.name)

    @abstractmethod
    def choose(self, learner: PoolLearner, rng: np.random.Generator) -> int:
        """Return a position in ``learner.unlabelled``."""


@dataclass
class RandomRule(PoolRule):
    """Passive sampling: any unlabelled instance."""

    name = "random"

    def choose(self, learner: PoolLearner, rng: np.random.Generator) -> int:
        """Return a random position."""
        return int(rng.integers(learner.unlabelled.size))


@dataclass
class NearestRule(PoolRule):
    """MU: the instance nearest to the separator; the first of equals."""

    name = "mu"

    def choose(self, learner: PoolLearner, rng: np.random.Generator) -> int:
        """Return the position of the nearest instance."""
        return int(np.abs(learner.distances()).argmin())


@dataclass
class LogisticRule(NearestRule):
    """LMU_logReg: the instance whose label a logistic regression is least certain of."""

    name = "lmu-logreg"
    loss = "logistic"


@dataclass
class IsalpRule(PoolRule):
    """ISALp: near instances are more probable, until cross validation trusts the separator; then MU.

    The probability falls with the squared distance as exp(-distance^2 / sigma^2). Every 5 labels from the
    10th on, a 5-fold error of at most *switch* ends the random choice for good.
    """

    sigma: float = parameter(1.0, "bandwidth, in units of x", above=0)
    switch: float = parameter(
        0.2, "cross-validation error that ends the random choice", at_least=0, at_most=1
    )
    switched: bool = field(default=False, init=False)

    name = "isalp"
    state_attributes = ("switched",)

    def choose(self, learner: PoolLearner, rng: np.random.Generator) -> int:
        """Return the position of an instance, probably near to the separator."""
        self.switched = self.switched or (_due(len(learner)) and self._trusted(learner))
        distances = np.abs(learner.distances())
        if self.switched:
            return int(distances.argmin())
        chances = np.exp((distances.min() ** 2 - distances**2) / self.sigma**2)
        return int(rng.choice(chances.size, p=chances / chances.sum()))

    def _trusted(self, learner: PoolLearner) -> bool:
        return cross_validation_error(learner.x, learner.y, learner.C) <= self.switch


def _due(labels: int) -> bool:
    return labels >= _CHECKED_FROM and (labels - _CHECKED_FROM) % _CHECKED_EVERY == 0


def cross_validation_error(x: FloatArray, y: IntArray, C: float) -> float:
    """Return the 5-fold error of the linear fit; every fifth instance belongs to the same fold.

    Parameters
    ----------
    x : ndarray, shape (n, d)
        The instances, at least 5.
    y : ndarray, shape (n,)
        Their labels, -1 or 1.
    C : float
        What a unit of loss costs.
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
        "random": "psm_sim.lab.active.pool_rules:RandomRule",
        "mu": "psm_sim.lab.active.pool_rules:NearestRule",
        "isalp": "psm_sim.lab.active.pool_rules:IsalpRule",
        "lmu-logreg": "psm_sim.lab.active.pool_rules:LogisticRule",
    },
)
"""The pool rules by name."""
