"""Linear separators: a plane, and its weighted fit with squared hinge or logistic loss ([003] 5.4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray, IntArray
from psm_sim.errors import InputError
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.newton_solver import LOSSES, NewtonObjective

_OFFSET_PENALTY = 1e-3
_MIN_NORM = 1e-9
_OWNER = "fit_linear"


@dataclass(frozen=True)
class Plane:
    """Plane v.x + t = 0: instances where v.x + t >= 0 are positive.

    Attributes
    ----------
    normal : ndarray, shape (d,)
        v, not scaled to length 1.
    offset : float
        t.
    """

    normal: FloatArray
    offset: float = 0.0

    @property
    def norm(self) -> float:
        """The length of v, at least 1e-9: a fit to one class only may return v = 0."""
        return max(float(np.linalg.norm(self.normal)), _MIN_NORM)

    @property
    def half_margin(self) -> float:
        """The distance 1/|v| from the plane to either side of the margin."""
        return 1 / self.norm

    @property
    def parameters(self) -> list[float]:
        """The d + 1 numbers (v, t), for :meth:`of`."""
        return [*self.normal.tolist(), self.offset]

    @classmethod
    def of(cls, parameters: ArrayLike) -> Plane:
        """Return the plane with these numbers (v, t), shape (d + 1,)."""
        found = input_checks.check_instances(
            [input_checks.check_numbers(parameters, "the plane")], None, "the plane"
        )[0]
        return cls(found[:-1], float(found[-1]))

    def decision_function(self, x: ArrayLike) -> FloatArray:
        """Return v.x + t for instances of shape (n, d)."""
        return input_checks.check_instances(x, self.normal.size, "the plane") @ self.normal + self.offset

    def predict(self, x: ArrayLike) -> IntArray:
        """Return 1 or -1 for instances of shape (n, d); 1 on the plane itself."""
        return np.where(self.decision_function(x) >= 0, 1, -1)

    def distance(self, x: ArrayLike) -> FloatArray:
        """Return the distance to the plane, negative on the side of -1, for instances of shape (n, d)."""
        return self.decision_function(x) / self.norm

    def project(self, x: ArrayLike) -> FloatArray:
        """Return the nearest points on the plane, shape (n, d), of instances of shape (n, d)."""
        points = input_checks.check_instances(x, self.normal.size, "the plane")
        found: FloatArray = points - self.distance(points)[:, None] * (self.normal / self.norm)
        return found


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

    The offset t is penalised by 0.0005 t^2 only, so that data of one class have a minimum too; the
    weights are scaled to mean 1. The papers used LIBSVM's hinge; its square is smooth.

    Parameters
    ----------
    x : array_like, shape (n, d)
        The instances.
    y : array_like, shape (n,)
        Their labels, -1 or 1.
    weights : array_like, shape (n,), optional
        Importance weights, 0 or more; all 1 if left out.
    C : float
        What a unit of loss costs against |v|^2/2, above 0.
    loss : str
        ``"squared-hinge"`` or ``"logistic"``.
    offset : bool
        False for planes through the origin.
    start : Plane, optional
        Where the search starts; it changes the time taken, not the plane found.

    Raises
    ------
    InputError
        If an instance is not finite, a label is neither -1 nor 1, shapes differ, all weights are 0, C is
        not above 0 or there is no such loss.
    """
    points = input_checks.check_instances(x, None, _OWNER)
    signs = input_checks.check_labels(y, len(points), _OWNER)
    shares = input_checks.check_weights(weights, len(points), _OWNER)
    if loss not in LOSSES or not C > 0:
        raise InputError(
            f"{_OWNER}: loss is {loss!r} and C is {C!r}; expected one of {', '.join(LOSSES)} and C above 0."
        )
    rows: FloatArray = np.column_stack([points, np.full(len(points), float(offset))]) * signs[:, None]
    first = np.zeros(points.shape[1] + 1) if start is None else np.array(start.parameters)
    ridge = np.append(np.ones(points.shape[1]), _OFFSET_PENALTY)
    found = NewtonObjective(rows, C * shares / shares.mean(), LOSSES[loss], ridge).least(first)
    return Plane(found[:-1], float(found[-1]) * offset)
