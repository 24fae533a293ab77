"""Comparators: the vector that makes the bound of a theorem sharpest, found by optimisation.

Only z = u / gamma matters, and each bound is convex in it: a weighted hinge sum, a support vector machine.
"""

from __future__ import annotations

from collections.abc import Sequence
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

    @classmethod
    def of(cls, runs: Sequence[tuple[Floats, Floats]], spreads: float = 0.0) -> Updates:
        """Count the updates of runs that weigh the same.

        Parameters
        ----------
        runs : sequence of (ndarray, ndarray)
            Instances, shape (m, features), and labels, shape (m,), of the updates of each run, in order.
        spreads : float
            Mean over the runs of :func:`spreads_of`.
        """
        x, y = (np.concatenate(parts) for parts in zip(*runs, strict=True))
        return cls(x, y, np.full(len(x), 1 / len(runs)), spreads)


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

    L-BFGS on a smoothed hinge, the smoothing made ever smaller. Any z gives a valid bound; a better one
    only makes it sharper.

    Parameters
    ----------
    updates : Updates
        What the hinge sums over.
    scale : float
        Factor of the hinge, above 0.
    quadratic : ndarray, shape (features, features)
        Positive definite.
    """
    from scipy.optimize import minimize

    signed, weight = updates.x * updates.y[:, None], scale * updates.weight
    z = np.zeros(updates.x.shape[1])

    def value(at: Floats, width: float) -> tuple[float, Floats]:
        short = np.clip(1 - signed @ at, 0, None)
        curved = np.minimum(short, width)
        hinge = weight @ (curved * curved / (2 * width) + short - curved)
        slope = -signed.T @ (weight * curved / width)
        return float(hinge + at @ quadratic @ at), slope + 2 * quadratic @ at

    for width in (1.0, 0.1, 0.01, 1e-3, 1e-4):
        z = minimize(value, z, args=(width,), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    return np.asarray(z)
