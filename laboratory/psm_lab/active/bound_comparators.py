"""Exact expected mistakes of a selective run, and the comparators that minimise the bounds of the theorems.

A bound depends on z = u / gamma only and is convex in it. Minimising it is a weighted support vector
machine: a sum of hinge losses plus a quadratic form.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy, deepcopy
from dataclasses import dataclass, field

import numpy as np

from psm_lab.active import theorem_bounds as bounds
from psm_lab.active.adversarial_sequences import Labels
from psm_lab.active.online_learner import OnlineLearner
from psm_lab.active.query_rules import QueryRule
from psm_lab.active.selective_sampler import SelectiveSampler
from psm_sim.common.array_types import FloatArray


@dataclass(frozen=True, eq=False)
class Updates:
    """Updates of a run with their probabilities, and the sums that the theorems need.

    Attributes
    ----------
    x : ndarray, shape (n, features)
        Instances of the updates, as the learner received them.
    y : ndarray, shape (n,)
        Their labels.
    weight : ndarray, shape (n,)
        Probability of each update.
    spreads : float
        Expected sum over the updates of q / (1 + q); 0 for a first-order learner.
    logdet : float
        Expected sum over the updates of ln(1 + q). Without drift it equals ln det A, A = I + sum of x x'.
    """

    x: FloatArray
    y: FloatArray
    weight: FloatArray
    spreads: float = 0.0
    logdet: float = 0.0

    def hinge(self, z: FloatArray) -> float:
        """Return the expected hinge sum of a comparator, shape (features,)."""
        return float(self.weight @ np.maximum(0.0, 1 - self.y * (self.x @ z)))

    def second_moment(self, ridge: float) -> FloatArray:
        """Return ridge I plus the expected sum of x x' over the updates, (features, features)."""
        return ridge * np.eye(self.x.shape[1]) + (self.x.T * self.weight) @ self.x


@dataclass(frozen=True)
class SharpBound(ABC):
    """Bound of a theorem as a function of the comparator, with its minimiser.

    Attributes
    ----------
    b : float
        Parameter of the query rule.
    """

    b: float

    @abstractmethod
    def at(self, updates: Updates, z: FloatArray) -> float:
        """Return the bound for the comparator *z*, shape (features,)."""

    @abstractmethod
    def best(self, updates: Updates) -> FloatArray:
        """Return the comparator that minimises the bound, shape (features,)."""

    def sharpest(self, updates: Updates) -> float:
        """Return the minimum of the bound."""
        return self.at(updates, self.best(updates))


class CbgzBound(SharpBound):
    """Theorem 1 of [002], for rows of norm 1."""

    def at(self, updates: Updates, z: FloatArray) -> float:
        """Return the bound for the comparator *z*, shape (features,)."""
        return bounds.cbgz_bound(self.b, updates.hinge(z), float(z @ z))

    def best(self, updates: Updates) -> FloatArray:
        """Return the comparator that minimises the bound, shape (features,)."""
        factor = (2 * self.b + 1) / (2 * self.b)
        return minimise_hinge(updates, factor, np.eye(updates.x.shape[1]) * factor * (2 * self.b + 1) / 4)


@dataclass(frozen=True)
class LasecBound(SharpBound):
    """Theorem 4 of [001] for constant comparators; *ridge* is the ridge parameter of LASEC."""

    ridge: float = 1.0

    def at(self, updates: Updates, z: FloatArray) -> float:
        """Return the bound for the comparator *z*, shape (features,)."""
        quadratic = float(z @ updates.second_moment(self.ridge) @ z)
        return bounds.lasec_ss_bound(self.b, updates.hinge(z), quadratic, self._last(updates))

    def best(self, updates: Updates) -> FloatArray:
        """Return the comparator that minimises the bound, shape (features,)."""
        return minimise_hinge(updates, 1.0, updates.second_moment(self.ridge) * self.b / 2)

    def _last(self, updates: Updates) -> float:
        return updates.spreads


class Cbgz2Bound(LasecBound):
    """Theorem 2 of [002], for rows of norm 1.

    Its last term is a determinant; the other terms equal LASEC's.
    """

    def _last(self, updates: Updates) -> float:
        return updates.logdet


def minimise_hinge(updates: Updates, scale: float, quadratic: FloatArray) -> FloatArray:
    """Return the z, shape (features,), that minimises ``scale * hinge(z) + z' quadratic z``.

    The corner of the hinge is rounded by a parabola whose width decreases towards 0, and each rounded problem
    is solved by Newton's method. The linear systems are small, so this avoids the overhead of a general
    optimiser. Any z gives a valid bound; a better z gives a sharper one.

    Parameters
    ----------
    updates : Updates
        Updates over which the hinge is summed.
    scale : float
        Factor of the hinge, above 0.
    quadratic : ndarray, shape (features, features)
        Positive definite matrix.
    """
    objective = _RoundedHinge(updates.x * updates.y[:, None], scale * updates.weight, quadratic)
    z = np.zeros(updates.x.shape[1])
    for width in (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5):
        for _ in range(_STEPS):
            z, gain = objective.step(z, width)
            if gain <= 1e-12:
                break
    return z


_STEPS = 50  # limit of Newton steps; the tests need at most 16


@dataclass(frozen=True, eq=False)
class _RoundedHinge:
    """Sum of hinges with rounded corners of a given width, plus a quadratic form."""

    signed: FloatArray
    weight: FloatArray
    quadratic: FloatArray

    def value(self, z: FloatArray, width: float) -> float:
        short = np.maximum(1 - self.signed @ z, 0)
        curved = np.minimum(short, width)
        return float(self.weight @ (curved * curved / (2 * width) + short - curved) + z @ self.quadratic @ z)

    def step(self, z: FloatArray, width: float) -> tuple[FloatArray, float]:
        """Return the vector after one Newton step, halved until the value decreases, and the decrease."""
        short = np.clip(1 - self.signed @ z, 0, width)
        slope = 2 * self.quadratic @ z - self.signed.T @ (self.weight * short / width)
        inside = self.signed[(short > 0) & (short < width)]
        weight = self.weight[(short > 0) & (short < width)]
        curvature = 2 * self.quadratic + (inside.T * (weight / width)) @ inside
        direction = np.linalg.solve(curvature, slope)
        before = self.value(z, width)
        for halvings in range(40):
            after = z - direction / 2**halvings
            if (gain := before - self.value(after, width)) > 0:
                return after, gain
        return z, 0.0


@dataclass(eq=False)
class Expectation:
    """Expected values over the Bernoulli draws.

    Attributes
    ----------
    mistakes, labels : float
        Number of wrong predictions, and of queried labels.
    updates : Updates
        Updates with their probabilities.
    """

    mistakes: float
    labels: float
    updates: Updates


def expected_sums(sampler: SelectiveSampler, X: FloatArray, label: Labels) -> Expectation:
    """Return the exact expected values of a run from the current state of a sampler.

    The sampler is not changed. Only a queried mistake changes the state, so both outcomes of a Bernoulli draw
    are followed at mistakes only. The running time grows as 2 to the number of mistakes, so about a dozen
    rounds are feasible.

    Parameters
    ----------
    sampler : SelectiveSampler
        Sampler whose learner and rule change at mistakes only.
    X : ndarray, shape (rounds, features)
        Instances.
    label : callable
        See :data:`~psm_lab.active.adversarial_sequences.Labels`.
    """
    sums = _RunSums(sampler._scaled(X), label)
    sums.follow(sampler.learner, sampler.rule, 0, 1.0)
    return sums.result()


@dataclass
class _RunSums:
    rows: FloatArray
    label: Labels
    mistakes: float = 0.0
    labels: float = 0.0
    logdet: float = 0.0
    spreads: float = 0.0
    counted: dict[tuple[int, int], float] = field(default_factory=dict)

    def follow(self, learner: OnlineLearner, rule: QueryRule, first: int, weight: float) -> None:
        """Follow the run from a row on.

        Parameters
        ----------
        learner, rule
            Current state.
        first : int
            Row to continue with.
        weight : float
            Probability of the state.
        """
        for row in range(first, len(self.rows)):
            x = self.rows[row]
            margin, spread = learner._view(x)
            p = rule.query_probability(x, margin, spread)
            y = self.label(row, 1 if margin >= 0 else -1)
            self.mistakes += weight * ((margin >= 0) != (y > 0))
            self.labels += weight * p
            if y * margin <= 0 and p > 0:
                self.count(row, y, spread, weight * p)
                self.follow(_copy_after_update(learner, x, y), _copy_after_mistake(rule), row + 1, weight * p)
                weight *= 1 - p
            if not weight:
                return

    def count(self, row: int, y: int, spread: float, weight: float) -> None:
        """Count an update.

        Parameters
        ----------
        row, y : int
            Row of the instance, and its label.
        spread : float
            Spread of the instance.
        weight : float
            Probability of the update.
        """
        self.counted[row, y] = self.counted.get((row, y), 0.0) + weight
        self.logdet += weight * math.log1p(spread)
        self.spreads += weight * spread / (1 + spread)

    def result(self) -> Expectation:
        """Return the sums."""
        rows = [row for row, _ in self.counted]
        labels = np.array([float(y) for _, y in self.counted])
        weights = np.array(list(self.counted.values()))
        updates = Updates(self.rows[rows], labels, weights, self.spreads, self.logdet)
        return Expectation(self.mistakes, self.labels, updates)


def _copy_after_update(learner: OnlineLearner, x: FloatArray, y: int) -> OnlineLearner:
    """Return an updated copy; a deep copy would take most of the running time."""
    copied = copy(learner)
    for key, value in vars(learner).items():
        setattr(copied, key, copy(value))
    copied._learn(x, float(y))
    return copied


def _copy_after_mistake(rule: QueryRule) -> QueryRule:
    copied = deepcopy(rule)
    copied.on_label(False)
    return copied
