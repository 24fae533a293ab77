"""Linear separator and its weighted fit with squared hinge or logistic loss ([003] 5.4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from psm_lab.active import input_checks
from psm_lab.active.newton_solver import LOSSES, NewtonObjective
from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.errors import InputError

_OFFSET_PENALTY = 1e-3  # relative to the penalty of v; 1e-6 moves planes of 100 answers by less than 1e-5
_MIN_NORM = 1e-9  # avoids division by 0
_OWNER = "fit_linear"


@dataclass(frozen=True)
class Plane:
    """Plane v.x + t = 0; instances with v.x + t >= 0 are positive.

    Attributes
    ----------
    normal : ndarray, shape (d,)
        v, not normalised.
    offset : float
        t.
    """

    normal: FloatArray
    offset: float = 0.0

    @property
    def norm(self) -> float:
        """Norm of v, at least 1e-9, because a fit to a single class may return v = 0."""
        return max(float(np.linalg.norm(self.normal)), _MIN_NORM)

    @property
    def half_margin(self) -> float:
        """Distance 1/|v| from the plane to either side of the margin."""
        return 1 / self.norm

    @property
    def parameters(self) -> list[float]:
        """Parameters (v, t) as d + 1 numbers."""
        return [*self.normal.tolist(), self.offset]

    def decision_function(self, x: ArrayLike) -> FloatArray:
        """Return v.x + t for instances of shape (n, d)."""
        return input_checks.check_instances(x, self.normal.size, "the plane") @ self.normal + self.offset

    def predict(self, x: ArrayLike) -> IntArray:
        """Return 1 or -1 for instances of shape (n, d); 1 on the plane itself."""
        return np.where(self.decision_function(x) >= 0, 1, -1)

    def distance(self, x: ArrayLike) -> FloatArray:
        """Return the signed distances of instances, shape (n, d); negative ones are predicted -1."""
        return self.decision_function(x) / self.norm

    def project(self, x: ArrayLike) -> FloatArray:
        """Return the projections of instances, shape (n, d), onto the plane."""
        points = input_checks.check_instances(x, self.normal.size, "the plane")
        projections: FloatArray = points - self.distance(points)[:, None] * (self.normal / self.norm)
        return projections


def fit_linear(
    x: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    C: float = 1.0,
    loss: str = "squared-hinge",
    offset: bool = True,
    start: Plane | None = None,
) -> Plane:
    """Return the plane that minimises |v|^2/2 + C sum w_i loss(y_i (v.x_i + t)), by Newton's method.

    The offset t has a penalty of only 0.0005 t^2, so that a minimum exists even for a single class. The
    weights are scaled to mean 1. The papers used the hinge loss of LIBSVM; the squared hinge is smooth.

    Parameters
    ----------
    x : array_like, shape (n, d)
        Instances.
    y : array_like, shape (n,)
        Labels, -1 or 1.
    weights : array_like, shape (n,), optional
        Importance weights, 0 or more (default: all 1).
    C : float
        Weight of the loss relative to |v|^2/2, above 0.
    loss : str
        ``"squared-hinge"`` or ``"logistic"``.
    offset : bool
        Whether to fit t; False fits a plane through the origin.
    start : Plane, optional
        Start of the search. It affects the running time, not the result.

    Raises
    ------
    InputError
        If an instance is not finite, a label is neither -1 nor 1, shapes differ, all weights are 0, C is not
        above 0, or the loss is unknown.
    """
    points = input_checks.check_instances(x, None, _OWNER)
    signs = input_checks.check_labels(y, len(points), _OWNER)
    shares = input_checks.check_weights(weights, len(points), _OWNER)
    if loss not in LOSSES or not C > 0:
        raise InputError(
            f"{_OWNER}: loss must be one of {', '.join(LOSSES)} and C > 0, got {loss!r} and {C!r}."
        )
    rows: FloatArray = np.column_stack([points, np.full(len(points), float(offset))]) * signs[:, None]
    first = np.zeros(points.shape[1] + 1) if start is None else np.array(start.parameters)
    ridge = np.append(np.ones(points.shape[1]), _OFFSET_PENALTY)
    solution = NewtonObjective(rows, C * shares / shares.mean(), LOSSES[loss], ridge).minimise(first)
    return Plane(solution[:-1], float(solution[-1]) * offset)
