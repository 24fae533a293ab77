"""Linear fit within an angle: the best plane through the origin near a given one ([003] 5.2.4)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
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
    """Return the plane through the origin of least weighted squared hinge within an angle of another.

    The loss is convex and the planes allowed form a convex cone, so a fit outside the cone is replaced
    by the best plane on its surface.

    Parameters
    ----------
    x, y, weights, C
        As for :func:`~psm_sim.lab.active.linear_separator.fit_linear`.
    centre : Plane
        The plane in the middle.
    radius : float
        The largest angle between the normals, above 0; from pi/2 on nothing is excluded.
    """
    if not radius > 0:
        raise InputError(f"{_OWNER}: radius is {radius}; expected an angle above 0.")
    free = fit_linear(x, y, weights, C, offset=False)
    if radius >= math.pi / 2 or angle_between(free.normal, centre.normal) <= radius:
        return free
    points = input_checks.check_instances(x, None, _OWNER)
    signed = points * input_checks.check_labels(y, len(points), _OWNER)[:, None]
    shares = input_checks.check_weights(weights, len(points), _OWNER)
    return Plane(
        _on_surface(signed, C * shares / shares.mean(), centre.normal / centre.norm, radius, free.normal)
    )


def _on_surface(
    signed: FloatArray, prices: FloatArray, axis: FloatArray, radius: float, free: FloatArray
) -> FloatArray:
    """Return the best v = |u| cot(radius) axis + u over vectors u across the axis."""
    from scipy.optimize import minimize

    goal = NewtonObjective(signed, prices, LOSSES["squared-hinge"], np.ones(axis.size))
    slant = 1 / math.tan(radius)

    def across(u: FloatArray) -> tuple[float, FloatArray]:
        side = u - (u @ axis) * axis
        length = float(np.linalg.norm(side))
        value, gradient = goal.slope(length * slant * axis + side)
        flat = gradient - (gradient @ axis) * axis
        return value, flat + slant * (gradient @ axis) * side / max(length, 1e-300)

    best = minimize(across, free, jac=True, method="L-BFGS-B").x
    side = best - (best @ axis) * axis
    found: FloatArray = float(np.linalg.norm(side)) * slant * axis + side
    return found
