"""Newton's method for convex losses of margins with a ridge: squared hinge and logistic loss.

On a few hundred instances with a dozen features, this solver takes a fifth of the time of a general
L-BFGS. The time matters because an active learner refits after every label.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from psm_sim.common.array_types import FloatArray

Loss = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
"""Callable that returns losses of margins, shape (n,), with their first and second derivatives."""

_STEPS = 100  # limit; the 21,300 fits of the tests need at most 15
_PRECISION = 1e-12  # relative size of the rounding errors of the objective


def squared_hinge(margins: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return max(0, 1 - m)^2 and its derivatives for margins m = y (v.x + t), shape (n,)."""
    slack: FloatArray = np.maximum(0.0, 1.0 - margins)
    return slack * slack, -2.0 * slack, np.where(slack > 0, 2.0, 0.0)


def logistic_loss(margins: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return log(1 + exp(-m)) and its derivatives for margins m, shape (n,)."""
    from scipy.special import expit

    p_wrong = expit(-margins)
    return np.logaddexp(0.0, -margins), -p_wrong, p_wrong * (1 - p_wrong)


LOSSES: dict[str, Loss] = {"squared-hinge": squared_hinge, "logistic": logistic_loss}
"""Losses by name."""


@dataclass(frozen=True)
class NewtonObjective:
    """Objective sum_j ridge_j u_j^2 / 2 + sum_i price_i loss(z_i.u + shift_i) as a function of u.

    Attributes
    ----------
    rows : ndarray, shape (n, k)
        Rows z_i = y_i x_i.
    prices : ndarray, shape (n,)
        Weight of each loss.
    loss : callable
        One of :data:`LOSSES`.
    ridge : ndarray, shape (k,)
        Penalty of each parameter, 0 or more.
    shift : ndarray, shape (n,), or float
        Part of each margin that does not depend on u.
    """

    rows: FloatArray
    prices: FloatArray
    loss: Loss
    ridge: FloatArray
    shift: FloatArray | float = 0.0

    def value(self, u: FloatArray) -> float:
        """Return the objective at *u*, shape (k,)."""
        return float(self.prices @ self.loss(self.rows @ u + self.shift)[0] + u @ (self.ridge * u) / 2)

    def minimise(self, start: FloatArray) -> FloatArray:
        """Return the u that minimises the objective, shape (k,), searched from *start*."""
        u = start
        for _ in range(_STEPS):
            values, slopes, curvatures = self.loss(self.rows @ u + self.shift)
            penalty = self.ridge * u
            value = float(self.prices @ values + u @ penalty / 2)
            gradient = (self.prices * slopes) @ self.rows + penalty
            hessian = (self.rows.T * (self.prices * curvatures)) @ self.rows + np.diag(self.ridge)
            step = np.asarray(-np.linalg.solve(hessian, gradient), dtype=np.float64)
            gain = -float(gradient @ step)
            if gain <= _PRECISION * (1 + abs(value)):
                break
            u = u + self._step_length(u, step, value, gain) * step
        return u

    def _step_length(self, u: FloatArray, step: FloatArray, value: float, gain: float) -> float:
        """Return the largest step length 1, 1/2, 1/4, ... that decreases the objective sufficiently.

        *u* is the current point, *value* its objective, *step* the Newton step, and *gain* its predicted
        decrease.
        """
        length = 1.0
        while length > 1e-10 and self.value(u + length * step) > value - 1e-4 * length * gain:
            length /= 2
        return length
