"""Points on the sphere, the error of a half-space, and a fast scan for the labels that an error costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.lab.active.online_learner import OnlineLearner
from psm_sim.lab.active.query_rules import QueryRule

Source = Callable[[int], tuple[FloatArray, FloatArray]]
"""Gives n points, shape (n, features), and their labels, shape (n,)."""

BLOCK = 1024


def unit_vector(rng: np.random.Generator, features: int) -> FloatArray:
    """Return one uniform point of the sphere, shape (features,)."""
    return uniform_points(rng, 1, features).ravel()


def uniform_points(rng: np.random.Generator, count: int, features: int) -> FloatArray:
    """Return points drawn uniformly from the unit sphere.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the draws come from.
    count, features : int
        The shape of what is returned, (count, features).
    """
    points = rng.standard_normal((count, features))
    points /= np.sqrt(np.einsum("ij,ij->i", points, points))[:, None]
    return points


def similar_points(rng: np.random.Generator, count: int, features: int, keep: float) -> FloatArray:
    """Return points of a distribution lambda-similar to the uniform one.

    A uniform point with ``x_1 x_2 <= 0`` is kept with probability *keep*, so that the density is between
    lambda and 1/lambda times the uniform one, with lambda = 2 keep / (1 + keep) (thesis, section 4.5.2).

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the draws come from.
    count, features : int
        The shape of what is returned, (count, features); at least 2 features.
    keep : float
        Above 0, at most 1.
    """
    kept: list[FloatArray] = []
    while sum(map(len, kept)) < count:
        points = uniform_points(rng, BLOCK, features)
        kept.append(points[(points[:, 0] * points[:, 1] > 0) | (rng.random(BLOCK) < keep)])
    return np.concatenate(kept)[:count]


def sphere_points(
    rng: np.random.Generator, target: FloatArray, keep: float | None = None, flips: float = 0.0
) -> Source:
    """Return a source of points labelled by a half-space.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the draws come from.
    target : ndarray, shape (features,)
        A point is positive where its product with the target is 0 or more.
    keep : float, optional
        As in :func:`similar_points`; None: the uniform sphere.
    flips : float
        Share of the labels turned around, 0 to 1/2.
    """

    def draw(count: int) -> tuple[FloatArray, FloatArray]:
        size = (count, len(target))
        points = uniform_points(rng, *size) if keep is None else similar_points(rng, *size, keep)
        labels = np.where(points @ target >= 0, 1.0, -1.0)
        if flips:
            labels[rng.random(count) < flips] *= -1
        return points, labels

    return draw


def error_of(w: FloatArray, target: FloatArray) -> float:
    """Return the share of the uniform sphere where two half-spaces differ, angle over pi; 1/2 for w = 0."""
    length = math.sqrt(w.dot(w))
    if not length:
        return 0.5
    a, b = w / length, target / math.sqrt(target.dot(target))
    # an arc cosine loses half the digits of a small angle
    return 2 * math.atan2(math.sqrt((a - b).dot(a - b)), math.sqrt((a + b).dot(a + b))) / math.pi


@dataclass(eq=False)
class Hits:
    """First hits of error levels: counts at the update that reached each, NaN where none did.

    Attributes
    ----------
    labels, updates, errors, points : ndarray, shape (levels,)
        Labels bought, updates, wrong predictions and points seen until then.
    final_error : float
        Error after the last point.
    seen : int
        Points seen in all.
    """

    labels: FloatArray
    updates: FloatArray
    errors: FloatArray
    points: FloatArray
    final_error: float = 0.5
    seen: int = 0


def first_hits(
    learner: OnlineLearner,
    rule: QueryRule,
    target: FloatArray,
    draw: Source,
    levels: Sequence[float],
    limit: int,
) -> Hits:
    """Return when a learner first reaches each error level; the trajectory is that of ``Selective``.

    Points come in blocks; one product gives the margins of a block, and the scan jumps to the next
    mistake or change of the band. So a point that is not asked about costs next to nothing.

    Parameters
    ----------
    learner, rule
        Changed by the run; the rule must have a ``band``: it asks for labels at margins up to it, and for
        no others (Always, Halving).
    target : ndarray, shape (features,)
        What the error is measured against.
    draw : callable
        A :func:`sphere_points` of points and labels.
    levels : sequence of float
        Errors, each above 0.
    limit : int
        Points to see at most.
    """
    if not hasattr(rule, "band"):
        raise InputError(f"the scan's rule is {rule.name}; expected one with a band, always or halving.")
    scan = _Scan(learner, rule, target, np.asarray(levels, dtype=np.float64))
    while scan.points < limit and not scan.done:
        scan.block(*draw(min(BLOCK, limit - scan.points)))
    labels, updates, errors, points = scan.found.T
    return Hits(labels, updates, errors, points, error_of(learner.w, target), scan.points)


@dataclass(eq=False)
class _Scan:
    learner: OnlineLearner
    rule: QueryRule
    target: FloatArray
    levels: FloatArray
    labels: int = 0
    updates: int = 0
    errors: int = 0
    points: int = 0
    found: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.found = np.full((len(self.levels), 4), np.nan)

    @property
    def done(self) -> bool:
        """Whether every level has been reached."""
        return bool(len(self.levels)) and not np.isnan(self.found[:, 0]).any()

    def block(self, X: FloatArray, y: FloatArray) -> None:
        """Take in points, shape (n, features), with their labels, shape (n,)."""
        start = 0
        while start < len(X) and not self.done:
            margins = X[start:] @ self.learner.w
            stop = self._stop(X[start:], y[start:], margins)
            self.errors += int(np.sum((margins[:stop] >= 0) != (y[start : start + stop] > 0)))
            self.points += stop
            start += stop
            self._note()

    def _stop(self, X: FloatArray, y: FloatArray, margins: FloatArray) -> int:
        """Buy labels up to the next mistake or change of the band; return the number of points passed."""
        band = self.rule.band  # type: ignore[attr-defined]  # first_hits has looked
        for place in np.flatnonzero(np.abs(margins) <= band).tolist():
            right = bool(y[place] * margins[place] > 0)
            self.labels += 1
            self.rule.told(right)
            if not right:
                self.updates += self.learner._learn(X[place], float(y[place]))
            if not right or self.rule.band != band:  # type: ignore[attr-defined]
                return place + 1
        return len(margins)

    def _note(self) -> None:
        reached = np.isnan(self.found[:, 0]) & (error_of(self.learner.w, self.target) <= self.levels)
        self.found[reached] = self.labels, self.updates, self.errors, self.points
