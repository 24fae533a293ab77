"""Quantiles: a distribution as a table of (cumulative probability, value)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError

INTERPOLATIONS = ("linear", "log", "step")


@dataclass(frozen=True, eq=False)
class QuantileDistribution:
    """Quantile function q(u), 0 <= u <= 1, through published points.

    ``probabilities`` (n,) never fall and end at 1; ``values`` (n,) never fall. Below the first
    probability, q is the first value. Between two points q is a straight line (``linear``), a straight
    line in log(value), which suits heavy tails (``log``), or the upper value (``step``: the table is the
    exact distribution of a discrete quantity). Two points of the same probability are a jump: no value
    between theirs is drawn.

    Raises
    ------
    InputError
        If the table is no distribution.
    """

    probabilities: FloatArray
    values: FloatArray
    interpolation: str = "linear"
    _areas: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        p, v = (np.asarray(part, dtype=float) for part in (self.probabilities, self.values))
        _check(p, v, self.interpolation)
        # Below the first point q is flat; a point at 0 makes that an ordinary segment.
        if p[0] > 0 and self.interpolation != "step":
            p, v = np.concatenate(([0.0], p)), np.concatenate((v[:1], v))
        object.__setattr__(self, "probabilities", p)
        object.__setattr__(self, "values", v)
        object.__setattr__(self, "_areas", self._areas_of_segments())

    @property
    def mean(self) -> float:
        """The mean of the distribution, exact for the interpolation chosen."""
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
        """Return the integral of q from 0 to *u*, of the same shape; up to 1 it is the mean."""
        u = np.asarray(u, dtype=float)
        if self.interpolation == "step":
            k = self._step(u)
            before = np.concatenate(([0.0], self.probabilities))[k]
            return np.asarray(self._areas[k] + (u - before) * self.values[k])
        k, t = self._segment(u)
        width = np.diff(self.probabilities)[k]
        return np.asarray(self._areas[k] + width * self._area(self.values[k], self.values[k + 1], t))

    def probability(self, value: float) -> float:
        """Return the largest u with q(u) <= *value*; 0 if there is none."""
        p, v = self.probabilities, self.values
        # From the right, so that of several equal values the last point counts: the largest u.
        k = int(np.searchsorted(v, value, side="right")) - 1
        if k < 0:
            return 0.0
        if k == v.size - 1 or self.interpolation == "step":
            return float(p[k])
        low, high = v[k], v[k + 1]
        part = (
            np.log(value / low) / np.log(high / low)
            if self.interpolation == "log"
            else ((value - low) / (high - low))
        )
        return float(p[k] + part * (p[k + 1] - p[k]))

    def _step(self, u: FloatArray) -> NDArray[np.intp]:
        # From the left: at a point itself the step has not come yet, q(p_k) = v_k.
        return np.minimum(np.searchsorted(self.probabilities, u, side="left"), self.values.size - 1)

    def _segment(self, u: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
        """Return the segment that holds each u, and how far into it u lies, from 0 to 1."""
        p = self.probabilities
        k = np.clip(np.searchsorted(p, u, side="right") - 1, 0, p.size - 2)
        width = p[k + 1] - p[k]
        # Two points of the same probability are a jump, a segment of no width: its upper end is taken.
        return k, np.divide(u - p[k], width, out=np.ones_like(u), where=width > 0)

    def _area(self, low: FloatArray, high: FloatArray, t: FloatArray) -> FloatArray:
        """Return the integral of one segment of width 1 up to *t*."""
        if self.interpolation == "linear":
            return low * t + (high - low) * t**2 / 2
        growth = np.log(high / low)
        flat = growth == 0
        return np.asarray(low * np.where(flat, t, np.expm1(growth * t) / np.where(flat, 1, growth)))

    def _areas_of_segments(self) -> FloatArray:
        p, v = self.probabilities, self.values
        if self.interpolation == "step":
            each = np.diff(p, prepend=0.0) * v
        else:
            each = np.diff(p) * self._area(v[:-1], v[1:], np.ones(p.size - 1))
        return np.concatenate(([0.0], np.cumsum(each)))


def _check(p: FloatArray, v: FloatArray, interpolation: str) -> None:
    if interpolation not in INTERPOLATIONS:
        raise InputError(f"interpolation is {interpolation!r}; expected one of {', '.join(INTERPOLATIONS)}.")
    if p.ndim != 1 or p.shape != v.shape or p.size == 0:
        raise InputError("the table is empty; expected pairs of [cumulative probability, value].")
    if not (np.isfinite(p).all() and np.isfinite(v).all()):
        raise InputError("the table holds a number that is not finite; expected finite numbers.")
    if p[0] < 0 or p[-1] != 1 or (np.diff(p) < 0).any():
        raise InputError("the probabilities do not rise from 0 or more to 1; sort the table, end it at 1.")
    if (np.diff(v) < 0).any() or v[0] < 0:
        raise InputError("the values do not rise from 0 or more; a larger probability has a larger value.")
    if interpolation == "log" and v[0] <= 0:
        raise InputError(f"the smallest value is {v[0]:g}; log interpolation expects values above 0.")
