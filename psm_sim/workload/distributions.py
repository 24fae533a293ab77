"""Distributions of sizes and times: constants, families with a mean and a shape, and tables of quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError, did_you_mean
from psm_sim.common.input_limits import MAX_MS, MAX_OBJECT_BYTES, ascii_number

_LAST = 1 - 1e-12
"""Largest probability at which a quantile is evaluated, because some families are unbounded at 1."""


class _Form(NamedTuple):
    """Quantile function, its integral and the CDF of a family with mean 1.

    The last argument of each function is the shape parameter.
    """

    quantile: Callable[[FloatArray, float], FloatArray]
    integral: Callable[[FloatArray, float], FloatArray]
    probability: Callable[[float, float], float]
    shape: str = ""
    below: float = math.inf


def _special() -> Any:
    import scipy.special  # imported when needed, because most traces do not need it

    return scipy.special


def _gamma_integral(u: FloatArray, k: float) -> FloatArray:
    # With mean 1, the partial expectation of a gamma(k) below x is the CDF of a gamma(k + 1) at x.
    return np.asarray(_special().gammainc(k + 1, _special().gammaincinv(k, u)))


def _gamma_probability(value: float, k: float) -> float:
    return float(_special().gammainc(k, k * max(value, 0.0)))


def _lognormal_probability(value: float, sigma: float) -> float:
    return float(_special().ndtr((math.log(value) + sigma**2 / 2) / sigma)) if value > 0 else 0.0


_FORMS = {
    "constant": _Form(lambda u, _: np.ones_like(u), lambda u, _: u, lambda v, _: float(v >= 1)),
    "uniform": _Form(lambda u, _: 2 * u, lambda u, _: u**2, lambda v, _: min(max(v / 2, 0.0), 1.0)),
    "exponential": _Form(
        lambda u, _: -np.log1p(-u),
        lambda u, _: _gamma_integral(u, 1.0),
        lambda v, _: _gamma_probability(v, 1.0),
    ),
    "gamma": _Form(
        lambda u, k: np.asarray(_special().gammaincinv(k, u) / k),
        _gamma_integral,
        _gamma_probability,
        "shape",
    ),
    "lognormal": _Form(
        lambda u, sigma: np.exp(sigma * _special().ndtri(u) - sigma**2 / 2),
        lambda u, sigma: np.asarray(_special().ndtr(_special().ndtri(u) - sigma)),
        _lognormal_probability,
        "deviation of the logarithm",
    ),
    "two-point": _Form(
        lambda u, zero: np.where(u > zero, 1 / (1 - zero), 0.0),
        lambda u, zero: np.maximum(u - zero, 0) / (1 - zero),
        lambda v, zero: 1.0 if v >= 1 / (1 - zero) else zero,
        "share of zeros",
        below=1.0,
    ),
}
FAMILIES = tuple(_FORMS)
"""Names of the families."""


@dataclass(frozen=True)
class Family:
    """Distribution of a family.

    Parameters
    ----------
    name
        One of :data:`FAMILIES`.
    mean
        Mean, in the unit of the values, at least 0.
    shape
        Shape parameter: k of ``gamma``, the standard deviation of the logarithm of ``lognormal``, or the
        share of zeros of ``two-point``. Ignored for other families.
    """

    name: str
    mean: float
    shape: float = math.nan

    def at(self, u: ArrayLike) -> FloatArray:
        """Return the quantiles of probabilities *u*, of the same shape."""
        clipped = np.minimum(np.asarray(u, dtype=float), _LAST)
        return self.mean * _FORMS[self.name].quantile(np.asarray(clipped), self.shape)

    def integral(self, u: ArrayLike) -> FloatArray:
        """Return the integral of the quantile function from 0 to *u*. For *u* = 1 it is the mean."""
        return self.mean * _FORMS[self.name].integral(np.asarray(u, dtype=float), self.shape)

    def probability(self, value: float) -> float:
        """Return the largest u with q(u) <= *value*."""
        return _FORMS[self.name].probability(value / self.mean, self.shape) if self.mean else 1.0


def distribution_family(text: str, mean: float, owner: str) -> Family:
    """Parse ``NAME`` or ``NAME:SHAPE``, such as ``gamma:2``, and return the family with mean *mean*.

    Error messages begin with *owner*, such as ``"trace: think is 'gama'"``.

    Raises
    ------
    InputError
        If the family is unknown or the shape is invalid.
    """
    name, colon, shape = text.strip().partition(":")
    if name not in _FORMS:
        expected = ", ".join(f"{family}:SHAPE" if form.shape else family for family, form in _FORMS.items())
        raise InputError(f"{owner}; expected one of {expected}.{did_you_mean(name, _FORMS)}")
    form = _FORMS[name]
    if not colon and not form.shape:
        return Family(name, mean)
    return Family(name, mean, _shape(form, shape, owner))


def _shape(form: _Form, text: str, owner: str) -> float:
    if not form.shape:
        raise InputError(f"{owner}; this family has no shape, so remove {':' + text!r}.")
    try:
        shape = float(ascii_number(text))
    except ValueError:
        shape = math.nan
    if not 0 < shape < min(form.below, 1e6):
        below = f" and below {form.below:g}" if form.below < math.inf else ""
        raise InputError(f"{owner}; the {form.shape} must be a number above 0{below}.")
    return shape


INTERPOLATIONS = ("linear", "log", "step")


@dataclass(frozen=True, eq=False)
class QuantileDistribution:
    """Quantile function q(u), 0 <= u <= 1, through given points.

    For u below the first probability, q(u) is the first value. Two points with the same probability define
    a jump: values between the two are never sampled.

    Parameters
    ----------
    probabilities : ndarray, shape (n,)
        Cumulative probabilities, non-decreasing, from 0 or more to 1.
    values : ndarray, shape (n,)
        Quantiles, non-decreasing and not negative.
    interpolation : {"linear", "log", "step"}
        ``linear`` interpolates the value, and ``log`` interpolates its logarithm, which suits heavy tails.
        ``step`` returns the value of the next point, so the table is exact for a discrete quantity.

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
        """Mean of the interpolated distribution."""
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
        """Return the integral of q from 0 to *u*. For *u* = 1 it is the mean."""
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
        """Return the index of the segment that contains each u, and the position of u in it, from 0 to 1."""
        p = self.probabilities
        k = np.clip(np.searchsorted(p, u, side="right") - 1, 0, p.size - 2)
        width = p[k + 1] - p[k]
        # A jump is a segment of zero width; use its upper end.
        return k, np.divide(u - p[k], width, out=np.ones_like(u), where=width > 0)

    def _area(self, low: FloatArray, high: FloatArray, t: FloatArray) -> FloatArray:
        """Return the integral from 0 to *t* of the interpolation between *low* at 0 and *high* at 1."""
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


Distribution = Family | QuantileDistribution
"""Distribution with quantile function q(u), its integral from 0 to u, and its inverse."""

AS_TRACE = "trace"
"""Parameter value that selects the distribution of the trace."""


def constant_distribution(name: str, text: str, at_least: float) -> float | None:
    """Convert the value *text* of the parameter *name* to a number.

    ``none`` becomes 0, which must not be less than the minimum *at_least*. ``trace``, which selects the
    distribution of the trace, becomes None.

    Raises
    ------
    InputError
        If *text* is not one of these words, or is not a number in the allowed range.
    """
    lowered = text.strip().lower()
    if lowered == AS_TRACE:
        return None
    try:
        value = 0.0 if lowered == "none" else float(ascii_number(lowered))
    except ValueError:
        value = math.nan
    maximum = MAX_MS if at_least == 0 else MAX_OBJECT_BYTES
    if not at_least <= value <= maximum:
        alternatives = ", 'none' or 'trace'" if at_least == 0 else " or 'trace'"
        raise InputError(
            f"trace: {name} must be a number from {at_least:g} to {maximum:g}{alternatives}, got {text!r}."
        )
    return value
