"""Learner that queries labels of instances in a pool, one at a time, and its rules ([003] 5.4.5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from psm_lab.active import input_checks
from psm_lab.active.ask_tell import AskTellLearner
from psm_lab.active.linear_separator import Plane, fit_linear
from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import check_all, parameter
from psm_sim.common.registry import Registry

_FOLDS = 5  # as [003] states for ISALp
_CHECKED_FROM, _CHECKED_EVERY = 10, 5  # labels, as [003] states for ISALp


class PoolRule(ABC):
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

    def choose(self, learner: PoolLearner, rng: np.random.Generator) -> int:
        """Return the position of a random instance near the separator, or of the nearest instance."""
        if not self.switched and _is_check_due(len(learner)):
            self.switched = cross_validation_error(learner.x, learner.y) <= self.switch
        distances = np.abs(learner.distances())
        if self.switched:
            return int(distances.argmin())
        weights = np.exp((distances.min() ** 2 - distances**2) / self.sigma**2)
        return int(rng.choice(weights.size, p=weights / weights.sum()))


def _is_check_due(labels: int) -> bool:
    return labels >= _CHECKED_FROM and (labels - _CHECKED_FROM) % _CHECKED_EVERY == 0


def cross_validation_error(x: FloatArray, y: IntArray) -> float:
    """Return the 5-fold error of the linear fit.

    Instances i, i + 5, i + 10, ... form one fold.

    Parameters
    ----------
    x : ndarray, shape (n, d)
        Instances, at least 5.
    y : ndarray, shape (n,)
        Labels, -1 or 1.
    """
    folds = np.arange(len(y)) % _FOLDS
    wrong = [
        fit_linear(x[folds != fold], y[folds != fold]).predict(x[folds == fold]) != y[folds == fold]
        for fold in range(_FOLDS)
    ]
    return float(np.concatenate(wrong).mean())


POOL_RULES: Registry[PoolRule] = Registry(
    "pool rule",
    PoolRule,
    {
        "random": "psm_lab.active.pool_learner:RandomRule",
        "mu": "psm_lab.active.pool_learner:NearestRule",
        "isalp": "psm_lab.active.pool_learner:IsalpRule",
        "lmu-logreg": "psm_lab.active.pool_learner:LogisticRule",
    },
)
"""Pool rules by name."""


_FIRST = 4
"""Number of random first instances, as in the program of :mod:`psm_lab.studies.active.reference_results`."""


class PoolLearner(AskTellLearner[int, int]):
    """Learner that queries the label of one instance of a pool at a time and refits its plane.

    Parameters
    ----------
    pool : array_like, shape (n, d)
        Instances without labels; standardise them first, see :func:`standardise`.
    rule : PoolRule or str
        Rule that chooses the next instance, or its name: ``random``, ``mu``, ``isalp:sigma=1,...`` or
        ``lmu-logreg``.
    seed : int
        Seed of the random stream.
    """

    name = "pool-learner"

    def __init__(
        self,
        pool: ArrayLike,
        rule: PoolRule | str = "mu",
        seed: int = 1,
    ) -> None:
        super().__init__(seed)
        self.pool = input_checks.check_instances(pool, None, self.name)
        self.rule: PoolRule = POOL_RULES.create(rule) if isinstance(rule, str) else copy(rule)
        self.plane = Plane(np.zeros(self.pool.shape[1]))
        self.unlabelled: IntArray = np.arange(len(self.pool))
        self.labelled: list[int] = []
        self._labels: list[int] = []

    @property
    def x(self) -> FloatArray:
        """Labelled instances, shape (labels, d), in query order."""
        return self.pool[self.labelled]

    @property
    def y(self) -> IntArray:
        """Labels of the labelled instances, shape (labels,)."""
        return np.array(self._labels, dtype=np.intp)

    def distances(self) -> FloatArray:
        """Return the signed distances of the unlabelled instances to the plane, shape (unlabelled,)."""
        return self.plane.distance(self.pool[self.unlabelled])

    def _next(self) -> int:
        if not self.unlabelled.size:
            raise InputError(f"{self.name}: all {len(self.pool)} instances of the pool are already labelled.")
        is_first = self.n_queries < _FIRST
        position = self._rng.integers(self.unlabelled.size) if is_first else self.rule.choose(self, self._rng)
        return int(self.unlabelled[position])

    def _learn(self, asked: int, answer: int) -> None:
        self.labelled.append(asked)
        self._labels.append(answer)
        self.unlabelled = self.unlabelled[self.unlabelled != asked]
        self.plane = fit_linear(self.x, self.y, loss=self.rule.loss, start=self.plane)

    def run(self, oracle: Callable[[int], int], labels: int) -> Plane:
        """Query ``oracle(index)`` until there are *labels* labels, and return the plane."""
        self.query(oracle, labels)
        return self.plane

    def predict(self, x: ArrayLike) -> IntArray:
        """Return 1 or -1 for instances of shape (n, d)."""
        return self.plane.predict(x)


def standardise(x: ArrayLike) -> FloatArray:
    """Return instances, shape (n, d), with mean 0 and standard deviation 1 for each feature."""
    points = input_checks.check_instances(x, None, "standardised")
    spread = points.std(axis=0)
    standardised: FloatArray = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return standardised
