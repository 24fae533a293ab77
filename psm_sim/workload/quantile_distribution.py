"""Distribution given by a table of quantiles."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError

INTERPOLATIONS = ("linear", "log", "step")


@dataclass(frozen=True, eq=False)
class QuantileDistribution:
    """Quantile function q(u), 0 <= u <= 1, through given points.

    Below the first probability, q is the first value. Two points of the same probability are a jump, so no
    value between them is ever sampled.

    Parameters
    ----------
    probabilities : ndarray, shape (n,)
        Cumulative probabilities, non-decreasing. The last one is 1.
    values : ndarray, shape (n,)
        Quantiles, non-decreasing and not negative.
    interpolation : {"linear", "log", "step"}
        ``linear`` interpolates the value, ``log`` its logarithm, which suits heavy tails. ``step`` takes the
        upper value, so the table is the exact distribution of a discrete quantity.

    Raises
    ------
    InputError
        If the table is not a distribution.
    """

    probabilities: FloatArray
    values: FloatArray
    interpolation: str = "linear"
    _areas: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        p, v = (np.asarray(fraction, dtype=float) for fraction in (self.probabilities, self.values))
        _check(p, v, self.interpolation)
        # q is constant below the first point. A point at 0 turns this part into an ordinary segment.
        if p[0] > 0 and self.interpolation != "step":
            p, v = np.concatenate(([0.0], p)), np.concatenate((v[:1], v))
        object.__setattr__(self, "probabilities", p)
        object.__setattr__(self, "values", v)
        object.__setattr__(self, "_areas", self._cumulative_areas())

    @property
    def mean(self) -> float:
        """Mean of the distribution, exact for its interpolation."""
        return float(self.integral(1.0))

    def at(self, u: ArrayLike) -> FloatArray:
        """Return the quantiles q(u) of probabilities *u*, of the same shape."""
        u = np.asarray(u, dtype=float)
        if self.interpolation == "step":
            return self.values[self._step(u)]
        k, t = self._segment(u)
        low, high = self.values[k], self.values[k + 1]
        return low * (high / low) ** t if self.interpolation == "log" else low + (high - low) * t

    def integral(self, u: ArrayLike) -> FloatArray:
        """Return the integral of q from 0 to *u*, of the same shape. At 1 it is the mean."""
        u = np.asarray(u, dtype=float)
        if self.interpolation == "step":
            k = self._step(u)
            left = np.concatenate(([0.0], self.probabilities))[k]
            return np.asarray(self._areas[k] + (u - left) * self.values[k])
        k, t = self._segment(u)
        width = np.diff(self.probabilities)[k]
        return np.asarray(self._areas[k] + width * self._area(self.values[k], self.values[k + 1], t))

    def probability(self, value: float) -> float:
        """Return the largest u with q(u) <= *value*; 0 if there is none."""
        p, v = self.probabilities, self.values
        # side="right" selects the last of several equal values, which has the largest u.
        k = int(np.searchsorted(v, value, side="right")) - 1
        if k < 0:
            return 0.0
        if k == v.size - 1 or self.interpolation == "step":
            return float(p[k])
        low, high = v[k], v[k + 1]
        fraction = (
            np.log(value / low) / np.log(high / low)
            if self.interpolation == "log"
            else ((value - low) / (high - low))
        )
        return float(p[k] + fraction * (p[k + 1] - p[k]))

    def _step(self, u: FloatArray) -> NDArray[np.intp]:
        # side="left" because the step comes after the point, so q(p_k) = v_k.
        return np.minimum(np.searchsorted(self.probabilities, u, side="left"), self.values.size - 1)

    def _segment(self, u: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
        """Return the segment of each u, and the relative position of u in it, from 0 to 1."""
        p = self.probabilities
        k = np.clip(np.searchsorted(p, u, side="right") - 1, 0, p.size - 2)
        width = p[k + 1] - p[k]
        # A jump is a segment of zero width; use its upper end.
        return k, np.divide(u - p[k], width, out=np.ones_like(u), where=width > 0)

    def _area(self, low: FloatArray, high: FloatArray, t: FloatArray) -> FloatArray:
        """Return the integral of a segment of width 1 from 0 to *t*."""
        if self.interpolation == "linear":
            return low * t + (high - low) * t**2 / 2
        growth = np.log(high / low)
        flat = growth == 0
        return np.asarray(low * np.where(flat, t, np.expm1(growth * t) / np.where(flat, 1, growth)))

    def _cumulative_areas(self) -> FloatArray:
        p, v = self.probabilities, self.values
        if self.interpolation == "step":
            areas = np.diff(p, prepend=0.0) * v
        else:
            areas = np.diff(p) * self._area(v[:-1], v[1:], np.ones(p.size - 1))
        return np.concatenate(([0.0], np.cumsum(areas)))


def _check(p: FloatArray, v: FloatArray, interpolation: str) -> None:
    if interpolation not in INTERPOLATIONS:
        raise InputError(f"interpolation must be one of {', '.join(INTERPOLATIONS)}, got {interpolation!r}.")
    if p.ndim != 1 or p.shape != v.shape or p.size == 0:
        raise InputError("the table is empty; expected pairs of [cumulative probability, value].")
    if not (np.isfinite(p).all() and np.isfinite(v).all()):
        raise InputError("the table contains a number that is not finite; expected finite numbers.")
    if p[0] < 0 or p[-1] != 1 or (np.diff(p) < 0).any():
        raise InputError("the probabilities must not decrease, start at 0 or more and end at 1.")
    if (np.diff(v) < 0).any() or v[0] < 0:
        raise InputError("the values must not decrease with the probability and must be at least 0.")
    if interpolation == "log" and v[0] <= 0:
        raise InputError(f"log interpolation requires values above 0, got {v[0]:g}.")
