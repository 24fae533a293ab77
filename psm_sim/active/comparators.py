"""Comparators: the vector that makes the bound of a theorem sharpest, found by optimisation.

Only z = u / gamma matters, and each bound is convex in it: a weighted hinge sum, a support vector machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from psm_sim.active import mistake_bounds as bounds
from psm_sim.active.memory import Floats
from psm_sim.active.ridge import RidgeRegression


@dataclass(frozen=True, eq=False)
class Updates:
    """Updates of several runs on one stream, counted: what the theorems sum over.

    Attributes
    ----------
    x : ndarray, shape (n, features)
        Instances of updates, as the learner saw them.
    y : ndarray, shape (n,)
        Their labels.
    weight : ndarray, shape (n,)
        Probability (or share of the runs) with which each was an update.
    spreads : float
        Expected sum over the updates of q / (1 + q); 0 for a first-order learner.
    """

    x: Floats
    y: Floats
    weight: Floats
    spreads: float = 0.0

    def hinge(self, z: Floats) -> float:
        """Return the expected hinge sum of a comparator, shape (features,)."""
        return float(self.weight @ np.maximum(0.0, 1 - self.y * (self.x @ z)))

    def second_moment(self, ridge: float) -> Floats:
        """Return ridge I + the expected sum of x x' over the updates, shape (features, features)."""
        return ridge * np.eye(self.x.shape[1]) + (self.x.T * self.weight) @ self.x


def spreads_of(x: Floats, ridge: float, c: float | None = None) -> float:
    """Return the sum of x'D_k^-1 x over the updates of a run of LASEC, q / (1 + q) each.

    Parameters
    ----------
    x : ndarray, shape (m, features)
        Instances of the updates, in order.
    ridge, c : float
        Of LASEC; c None: no drift.
    """
    learner = RidgeRegression(x.shape[1], ridge=ridge, c=c)  # it takes in every row, as an update does
    total = 0.0
    for row in x:
        q = learner.spread(row)
        total += q / (1 + q)
        learner.learn(row, 1)
    return total


def sharpest_cbgz(updates: Updates, b: float) -> float:
    """Return Theorem 1 of [002] for the best comparator; *b* is the coin's."""
    moment = np.eye(updates.x.shape[1])
    z = least(updates, (2 * b + 1) / (2 * b), moment * (2 * b + 1) ** 2 / (8 * b))
    return bounds.cbgz_bound(b, updates.hinge(z), float(z @ z))


def sharpest_cbgz2(updates: Updates, b: float, logdet: float) -> float:
    """Return Theorem 2 of [002] for the best comparator.

    Parameters
    ----------
    updates : Updates
        Of second-order CBGZ, on rows of norm 1.
    b : float
        The coin's.
    logdet : float
        Expected ln det A.
    """
    moment = updates.second_moment(1.0)
    z = least(updates, 1.0, moment * b / 2)
    return bounds.cbgz2_bound(b, updates.hinge(z), float(z @ moment @ z), logdet)


def sharpest_lasec_ss(updates: Updates, b: float, ridge: float) -> float:
    """Return Theorem 4 of [001] for the best comparator that does not move.

    Parameters
    ----------
    updates : Updates
        Of LASEC with the margin coin.
    b, ridge : float
        The coin's, and LASEC's.
    """
    moment = updates.second_moment(ridge)
    z = least(updates, 1.0, moment * b / 2)
    return bounds.lasec_ss_bound(b, updates.hinge(z), float(z @ moment @ z), updates.spreads)


def least(updates: Updates, scale: float, quadratic: Floats) -> Floats:
    """Return the z, shape (features,), with the least ``scale * hinge(z) + z' quadratic z``.

    Newton's method on a hinge whose corner is rounded, ever less: a few small linear systems, where a
    general optimiser would spend its time on overhead. Any z gives a valid bound; a better one only makes
    it sharper.

    Parameters
    ----------
    updates : Updates
        What the hinge sums over.
    scale : float
        Factor of the hinge, above 0.
    quadratic : ndarray, shape (features, features)
        Positive definite.
    """
    rounded = _Rounded(updates.x * updates.y[:, None], scale * updates.weight, quadratic)
    z = np.zeros(updates.x.shape[1])
    for width in (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5):
        for _ in range(_STEPS):
            z, gain = rounded.step(z, width)
            if gain <= 1e-12:
                break
    return z


_STEPS = 50


@dataclass(frozen=True, eq=False)
class _Rounded:
    """Hinge sum whose corner is a parabola of a given width, plus a quadratic form."""

    signed: Floats
    weight: Floats
    quadratic: Floats

    def value(self, z: Floats, width: float) -> float:
        short = np.maximum(1 - self.signed @ z, 0)
        curved = np.minimum(short, width)
        return float(self.weight @ (curved * curved / (2 * width) + short - curved) + z @ self.quadratic @ z)

    def step(self, z: Floats, width: float) -> tuple[Floats, float]:
        """Return the vector after one Newton step, halved until it gains, and the gain."""
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
