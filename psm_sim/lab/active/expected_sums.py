"""Expectation of what a theorem sums over the coins of a selective run: exact, or sampled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.lab.active.adversarial import Labels
from psm_sim.lab.active.bound_comparators import Updates
from psm_sim.lab.active.online_learner import OnlineLearner
from psm_sim.lab.active.query_rules import QueryRule
from psm_sim.lab.active.selective import SelectiveSampler


@dataclass(eq=False)
class Expectation:
    """Expectations over the coins.

    Attributes
    ----------
    mistakes, labels, chances : float
        Wrong predictions, labels bought, and the sum of the query probabilities.
    updates : Updates
        The updates with their probabilities.
    """

    mistakes: float
    labels: float
    chances: float
    updates: Updates


def expected_sums(sampler: SelectiveSampler, X: FloatArray, label: Labels) -> Expectation:
    """Return the exact expectation of a run from a sampler's present state, which stays.

    Only a bought mistake changes the state, so both outcomes of a coin are followed at mistakes alone. The
    time grows as 2 to the number of mistakes: for a dozen rounds.

    Parameters
    ----------
    sampler : Selective
        A learner that moves at mistakes only, and a rule that changes at mistakes only.
    X : ndarray, shape (rounds, features)
        The instances.
    label : callable
        Gives the label of a row, knowing the prediction.
    """
    walk = _Walk(sampler._scaled(X), label)
    walk.follow(sampler.learner, sampler.rule, 0, 1.0)
    return walk.result()


def sample_run(sampler: SelectiveSampler, X: FloatArray, label: Labels) -> Expectation:
    """Return what one run has, its coins drawn.

    The *sampler* learns; *X* and *label* as in :func:`expected_sums`.
    """
    walk = _Walk(sampler._scaled(X), label)
    for row, x in enumerate(walk.rows):
        margin, spread = sampler.learner._view(x)
        p = sampler.rule.chance(x, margin, spread)
        y = label(row, 1 if margin >= 0 else -1)
        walk.mistakes += (margin >= 0) != (y > 0)
        walk.chances += p
        if p == 1 or (p > 0 and sampler.rng.random() < p):
            walk.labels += 1
            if sampler.learner._learn(x, float(y)):
                walk.count(row, y, spread, 1.0)
            sampler.rule.told(y * margin > 0)
    return walk.result()


def pool_runs(runs: Sequence[Expectation]) -> Expectation:
    """Return the means over *runs*, one per coin."""
    share = 1 / len(runs)
    parts = [run.updates for run in runs]
    x, y, weight = (np.concatenate([getattr(part, key) for part in parts]) for key in ("x", "y", "weight"))
    sums = {key: share * sum(getattr(run, key) for run in runs) for key in ("mistakes", "labels", "chances")}
    spreads, logdet = (share * sum(getattr(part, key) for part in parts) for key in ("spreads", "logdet"))
    return Expectation(**sums, updates=Updates(x, y, share * weight, spreads, logdet))


@dataclass
class _Walk:
    rows: FloatArray
    label: Labels
    mistakes: float = 0.0
    labels: float = 0.0
    chances: float = 0.0
    logdet: float = 0.0
    spreads: float = 0.0
    counted: dict[tuple[int, int], float] = field(default_factory=dict)

    def follow(self, learner: OnlineLearner, rule: QueryRule, first: int, weight: float) -> None:
        """Go on from row *first* with *learner* and *rule* in a state of probability *weight*."""
        for row in range(first, len(self.rows)):
            x = self.rows[row]
            margin, spread = learner._view(x)
            p = rule.chance(x, margin, spread)
            y = self.label(row, 1 if margin >= 0 else -1)
            self.mistakes += weight * ((margin >= 0) != (y > 0))
            self.labels += weight * p
            self.chances += weight * p
            if y * margin <= 0 and p > 0:
                self.count(row, y, spread, weight * p)
                self.follow(_moved(learner, x, y), _told(rule), row + 1, weight * p)
                weight *= 1 - p
            if not weight:
                return

    def count(self, row: int, y: int, spread: float, weight: float) -> None:
        """Count an update of *row*, labelled *y*, of that *spread*, made with probability *weight*."""
        self.counted[row, y] = self.counted.get((row, y), 0.0) + weight
        self.logdet += weight * math.log1p(spread)
        self.spreads += weight * spread / (1 + spread)

    def result(self) -> Expectation:
        """Return what was summed."""
        rows = [row for row, _ in self.counted]
        labels = np.array([float(y) for _, y in self.counted])
        weights = np.array(list(self.counted.values()))
        updates = Updates(self.rows[rows], labels, weights, self.spreads, self.logdet)
        return Expectation(self.mistakes, self.labels, self.chances, updates)


def _moved(learner: OnlineLearner, x: FloatArray, y: int) -> OnlineLearner:
    """Return a copy that has learnt; a deep copy would take most of the time."""
    other = copy(learner)
    for key in learner.state_attributes:
        setattr(other, key, copy(getattr(learner, key)))
    other._learn(x, float(y))
    return other


def _told(rule: QueryRule) -> QueryRule:
    other = deepcopy(rule) if rule.state_attributes else rule
    other.told(False)
    return other
