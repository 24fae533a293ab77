"""Points on the sphere, the error of a half-space, and a fast count of the labels for each error level."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from psm_lab.active.online_learner import OnlineLearner
from psm_lab.active.query_rules import QueryRule
from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError

Source = Callable[[int], tuple[FloatArray, FloatArray]]
"""Callable that returns n points, shape (n, features), and their labels, shape (n,)."""

BLOCK = 1024
"""Number of points that are sampled at a time. A scan to error 0.003 is fastest with 256 to 1024."""


def unit_vector(rng: np.random.Generator, features: int) -> FloatArray:
    """Return one uniform point of the sphere, shape (features,)."""
    return uniform_points(rng, 1, features).ravel()


def uniform_points(rng: np.random.Generator, count: int, features: int) -> FloatArray:
    """Return points sampled uniformly from the unit sphere.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the random numbers.
    count, features : int
        Shape of the result.
    """
    points = rng.standard_normal((count, features))
    points /= np.sqrt(np.einsum("ij,ij->i", points, points))[:, None]
    return points


def similar_points(rng: np.random.Generator, count: int, features: int, keep: float) -> FloatArray:
    """Return points of a distribution lambda-similar to the uniform one.

    A uniform point with ``x_1 x_2 <= 0`` is kept with probability *keep*. The density is then between lambda
    and 1/lambda times the uniform one, with lambda = 2 keep / (1 + keep) (thesis, section 4.5.2).

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the random numbers.
    count, features : int
        Shape of the result, with at least 2 features.
    keep : float
        Above 0, at most 1.
    """
    accepted: list[FloatArray] = []
    while sum(map(len, accepted)) < count:
        points = uniform_points(rng, BLOCK, features)
        accepted.append(points[(points[:, 0] * points[:, 1] > 0) | (rng.random(BLOCK) < keep)])
    return np.concatenate(accepted)[:count]


def sphere_points(rng: np.random.Generator, target: FloatArray, keep: float | None = None) -> Source:
    """Return a source of points labelled by a half-space.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the random numbers.
    target : ndarray, shape (features,)
        A point is positive if its product with the target is 0 or more.
    keep : float, optional
        See :func:`similar_points`; None samples the uniform sphere.
    """

    def draw(count: int) -> tuple[FloatArray, FloatArray]:
        size = (count, len(target))
        points = uniform_points(rng, *size) if keep is None else similar_points(rng, *size, keep)
        return points, np.where(points @ target >= 0, 1.0, -1.0)

    return draw


def error_of(w: FloatArray, target: FloatArray) -> float:
    """Return the share of the uniform sphere where two half-spaces differ: their angle over pi.

    The result is 1/2 for w = 0.
    """
    length = math.sqrt(w.dot(w))
    if not length:
        return 0.5
    a, b = w / length, target / math.sqrt(target.dot(target))
    # atan2, because an arc cosine loses half of the digits of a small angle
    return 2 * math.atan2(math.sqrt((a - b).dot(a - b)), math.sqrt((a + b).dot(a + b))) / math.pi


@dataclass(eq=False)
class Hits:
    """Counts at the first update that reached each error level; NaN for levels not reached.

    Attributes
    ----------
    labels, updates, errors, points : ndarray, shape (levels,)
        Queried labels, updates, wrong predictions and points up to that update.
    seen : int
        Total number of points.
    """

    labels: FloatArray
    updates: FloatArray
    errors: FloatArray
    points: FloatArray
    seen: int = 0


def first_hits(
    learner: OnlineLearner,
    rule: QueryRule,
    target: FloatArray,
    draw: Source,
    levels: Sequence[float],
    limit: int,
) -> Hits:
    """Return when a learner first reaches each error level.

    The learner is updated exactly as by :class:`~psm_lab.active.selective_sampler.SelectiveSampler`. One
    product gives the margins of a block of points, and the scan jumps to the next mistake or change of the
    band. A point that is not queried therefore costs almost nothing.

    Parameters
    ----------
    learner, rule
        Learner and query rule, which the run modifies. The rule must have a ``band``, the largest margin at
        which labels are queried (rules ``always`` and ``halving``).
    target : ndarray, shape (features,)
        Target with respect to which the error is computed.
    draw : callable
        Source of points and labels, see :func:`sphere_points`.
    levels : sequence of float
        Error levels, each above 0.
    limit : int
        Maximum number of points.
    """
    if not hasattr(rule, "band"):
        raise InputError(f"rule must have a band (always or halving), got {rule.name}.")
    scan = _Scan(learner, rule, target, np.asarray(levels, dtype=np.float64))
    while scan.points < limit and not scan.done:
        scan.block(*draw(min(BLOCK, limit - scan.points)))
    labels, updates, errors, points = scan.hits.T
    return Hits(labels, updates, errors, points, scan.points)


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
    hits: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.hits = np.full((len(self.levels), 4), np.nan)

    @property
    def done(self) -> bool:
        """Whether every level has been reached."""
        return bool(len(self.levels)) and not np.isnan(self.hits[:, 0]).any()

    def block(self, X: FloatArray, y: FloatArray) -> None:
        """Process points, shape (n, features), with their labels, shape (n,)."""
        start = 0
        while start < len(X) and not self.done:
            margins = X[start:] @ self.learner.w
            stop = self._query_until_change(X[start:], y[start:], margins)
            self.errors += int(np.sum((margins[:stop] >= 0) != (y[start : start + stop] > 0)))
            self.points += stop
            start += stop
            self._record_levels()

    def _query_until_change(self, X: FloatArray, y: FloatArray, margins: FloatArray) -> int:
        """Query labels up to the next mistake or change of the band. Return the number of points passed."""
        band = self.rule.band  # type: ignore[attr-defined]  # first_hits has checked it
        for index in np.flatnonzero(np.abs(margins) <= band).tolist():
            is_correct = bool(y[index] * margins[index] > 0)
            self.labels += 1
            self.rule.on_label(is_correct)
            if not is_correct:
                self.updates += self.learner._learn(X[index], float(y[index]))
            if not is_correct or self.rule.band != band:  # type: ignore[attr-defined]
                return index + 1
        return len(margins)

    def _record_levels(self) -> None:
        reached = np.isnan(self.hits[:, 0]) & (error_of(self.learner.w, self.target) <= self.levels)
        self.hits[reached] = self.labels, self.updates, self.errors, self.points
