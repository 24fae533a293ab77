"""Linear fit within an angle of a given plane through the origin ([003] 5.2.4)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.linear_separator import Plane, fit_linear
from psm_sim.lab.active.newton_solver import LOSSES, NewtonObjective

_OWNER = "fit_within"


def angle_between(first: FloatArray, second: FloatArray) -> float:
    """Return the angle between two vectors, 0 to pi."""
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return math.acos(min(1.0, max(-1.0, float(first @ second) / max(lengths, 1e-300))))


def fit_within_angle(
    x: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None,
    centre: Plane,
    radius: float,
    C: float = 1.0,
) -> Plane:
    """Return the plane through the origin of least weighted squared hinge within an angle of another plane.

    The loss is convex and the allowed planes form a convex cone. If the unconstrained fit lies outside the
    cone, the optimum is therefore on the surface of the cone.

    Parameters
    ----------
    x, y, weights
        See :func:`~psm_sim.lab.active.linear_separator.fit_linear`.
    centre : Plane
        Plane at the centre of the cone.
    radius : float
        Maximum angle between the normals, above 0. From pi/2 on there is no constraint.
    C : float
        See :func:`~psm_sim.lab.active.linear_separator.fit_linear`.
    """
    if not radius > 0:
        raise InputError(f"{_OWNER}: radius must be an angle > 0, got {radius}.")
    free = fit_linear(x, y, weights, C, offset=False)
    if radius >= math.pi / 2 or angle_between(free.normal, centre.normal) <= radius:
        return free
    points = input_checks.check_instances(x, None, _OWNER)
    signed = points * input_checks.check_labels(y, len(points), _OWNER)[:, None]
    shares = input_checks.check_weights(weights, len(points), _OWNER)
    return Plane(
        _fit_on_cone(signed, C * shares / shares.mean(), centre.normal / centre.norm, radius, free.normal)
    )


def _fit_on_cone(
    signed: FloatArray, prices: FloatArray, axis: FloatArray, radius: float, free: FloatArray
) -> FloatArray:
    """Return the optimal v = |u| cot(radius) axis + u over the vectors u orthogonal to the axis.

    Parameters
    ----------
    signed : ndarray, shape (n, d)
        Instances times their labels.
    prices : ndarray, shape (n,)
        Weight of each loss.
    axis : ndarray, shape (d,)
        Unit normal of the plane at the centre.
    radius : float
        Angle of the cone.
    free : ndarray, shape (d,)
        Unconstrained optimum, where the search starts.
    """
    from scipy.optimize import minimize

    objective = NewtonObjective(signed, prices, LOSSES["squared-hinge"], np.ones(axis.size))
    slant = 1 / math.tan(radius)

    def loss_on_cone(u: FloatArray) -> tuple[float, FloatArray]:
        side = u - (u @ axis) * axis
        length = float(np.linalg.norm(side))
        value, gradient = objective.slope(length * slant * axis + side)
        orthogonal = gradient - (gradient @ axis) * axis
        return value, orthogonal + slant * (gradient @ axis) * side / max(length, 1e-300)

    best = minimize(loss_on_cone, free, jac=True, method="L-BFGS-B").x
    side = best - (best @ axis) * axis
    normal: FloatArray = float(np.linalg.norm(side)) * slant * axis + side
    return normal
