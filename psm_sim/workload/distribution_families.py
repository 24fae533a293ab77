"""Distribution families with a given mean and shape, from light to heavy tails."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError, did_you_mean

_LAST = 1 - 1e-12
"""Largest probability at which a quantile is evaluated, because some families are unbounded at 1."""


class Distribution(Protocol):
    """Interface of a distribution with quantile function q(u) and its integral from 0 to u."""

    def at(self, u: ArrayLike) -> FloatArray:
        """Return the quantiles of probabilities *u*, of the same shape."""

    def integral(self, u: ArrayLike) -> FloatArray:
        """Return the integral of the quantiles from 0 to *u*, of the same shape."""

    def probability(self, value: float) -> float:
        """Return the largest u with q(u) <= *value*."""


class _Form(NamedTuple):
    """Functions of a family of mean 1, each with the shape as its last argument."""

    quantile: Callable[[FloatArray, float], FloatArray]
    integral: Callable[[FloatArray, float], FloatArray]
    probability: Callable[[float, float], float]
    shape: str = ""
    default: float | None = None
    below: float = math.inf


def _gamma_at(u: FloatArray, k: float) -> FloatArray:
    from scipy.special import gammaincinv

    return np.asarray(gammaincinv(k, u) / k)


def _gamma_integral(u: FloatArray, k: float) -> FloatArray:
    # With mean 1, the partial expectation of a gamma(k) below x is the CDF of a gamma(k + 1) at x.
    from scipy.special import gammainc, gammaincinv

    return np.asarray(gammainc(k + 1, gammaincinv(k, u)))


def _gamma_probability(value: float, k: float) -> float:
    from scipy.special import gammainc

    return float(gammainc(k, k * max(value, 0.0)))


def _lognormal_at(u: FloatArray, sigma: float) -> FloatArray:
    from scipy.special import ndtri

    return np.asarray(np.exp(sigma * ndtri(u) - sigma**2 / 2))


def _lognormal_integral(u: FloatArray, sigma: float) -> FloatArray:
    from scipy.special import ndtr, ndtri

    return np.asarray(ndtr(ndtri(u) - sigma))


def _lognormal_probability(value: float, sigma: float) -> float:
    from scipy.special import ndtr

    return float(ndtr((math.log(value) + sigma**2 / 2) / sigma)) if value > 0 else 0.0


_FORMS = {
    "constant": _Form(lambda u, _: np.ones_like(u), lambda u, _: u, lambda v, _: float(v >= 1)),
    "uniform": _Form(lambda u, _: 2 * u, lambda u, _: u**2, lambda v, _: min(max(v / 2, 0.0), 1.0)),
    "exponential": _Form(
        lambda u, _: -np.log1p(-u),
        lambda u, _: _gamma_integral(u, 1.0),
        lambda v, _: _gamma_probability(v, 1.0),
    ),
    "gamma": _Form(_gamma_at, _gamma_integral, _gamma_probability, "shape", 2.0),
    "lognormal": _Form(
        _lognormal_at, _lognormal_integral, _lognormal_probability, "deviation of the logarithm", 1.0
    ),
    "two-point": _Form(
        lambda u, zero: np.where(u > zero, 1 / (1 - zero), 0.0),
        lambda u, zero: np.maximum(u - zero, 0) / (1 - zero),
        lambda v, zero: 1.0 if v >= 1 / (1 - zero) else zero,
        "share of zeros",
        0.5,
        1.0,
    ),
}
NAMES = tuple(_FORMS)
"""Names of the families."""


@dataclass(frozen=True)
class Family:
    """Distribution of a family.

    Parameters
    ----------
    name
        One of :data:`NAMES`.
    mean
        Mean, in the unit of the values, at least 0.
    shape
        Shape parameter: k of ``gamma``, the standard deviation of the logarithm of ``lognormal``, the share
        of zeros of ``two-point``. The other families ignore it.
    """

    name: str
    mean: float
    shape: float = math.nan

    def at(self, u: ArrayLike) -> FloatArray:
        """Return the quantiles of probabilities *u*, of the same shape."""
        clipped = np.minimum(np.asarray(u, dtype=float), _LAST)
        return self.mean * _FORMS[self.name].quantile(np.asarray(clipped), self.shape)

    def integral(self, u: ArrayLike) -> FloatArray:
        """Return the integral of the quantiles from 0 to *u*, of the same shape. At 1 it is the mean."""
        return self.mean * _FORMS[self.name].integral(np.asarray(u, dtype=float), self.shape)

    def probability(self, value: float) -> float:
        """Return the largest u with q(u) <= *value*."""
        return _FORMS[self.name].probability(value / self.mean, self.shape) if self.mean else 1.0


def distribution_family(text: str, mean: float, owner: str) -> Family:
    """Parse ``NAME`` or ``NAME:SHAPE``.

    Parameters
    ----------
    text
        Name of the family and, if it has one, its shape.
    mean
        Mean of the distribution, at least 0.
    owner
        Parameter and value for the error message, such as ``"trace: think is 'gama'"``.

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
    if not colon:
        return Family(name, mean, math.nan if form.default is None else form.default)
    return Family(name, mean, _shape(form, shape, owner))


def _shape(form: _Form, text: str, owner: str) -> float:
    if not form.shape:
        raise InputError(f"{owner}; this family has no shape, so remove {':' + text!r}.")
    try:
        shape = float(text)
    except ValueError:
        shape = math.nan
    if not 0 < shape < min(form.below, 1e6):
        below = f" and below {form.below:g}" if form.below < math.inf else ""
        raise InputError(f"{owner}; the {form.shape} must be a number above 0{below}.")
    return shape
