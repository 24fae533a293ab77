"""Exact expected values, over the Bernoulli draws of a selective run, of the sums in the theorems."""

from __future__ import annotations

import math
from copy import copy, deepcopy
from dataclasses import dataclass, field

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.lab.active.adversarial_sequences import Labels
from psm_sim.lab.active.bound_comparators import Updates
from psm_sim.lab.active.online_learner import OnlineLearner
from psm_sim.lab.active.query_rules import QueryRule
from psm_sim.lab.active.selective_sampler import SelectiveSampler


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
    are followed at mistakes only. The running time is exponential, 2 to the number of mistakes, so this is
    feasible for about a dozen rounds.

    Parameters
    ----------
    sampler : SelectiveSampler
        Sampler whose learner and rule change at mistakes only.
    X : ndarray, shape (rounds, features)
        Instances.
    label : callable
        See :data:`~psm_sim.lab.active.adversarial_sequences.Labels`.
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
    """Return a copy that has learnt; a deep copy would take most of the time."""
    copied = copy(learner)
    for key, value in vars(learner).items():
        setattr(copied, key, copy(value))
    copied._learn(x, float(y))
    return copied


def _copy_after_mistake(rule: QueryRule) -> QueryRule:
    copied = deepcopy(rule)
    copied.on_label(False)
    return copied
