"""Theorems on the uniform sphere as functions: Perceptrons and DKM (thesis, chapters 3 and 4).

Errata of the papers are applied, as noted in each function.
"""

from __future__ import annotations

import math

from psm_sim.common.errors import InputError


def perceptron_mistakes(margin: float, radius: float = 1.0) -> float:
    """Return the maximum mistakes of a Perceptron, (radius / margin)^2, for norms up to *radius*."""
    return (_check_positive(radius, "radius") / _check_positive(margin, "margin")) ** 2


def perceptron_angle_floor(updates: int, start: float = 0.0) -> float:
    """Return the minimum sin(angle) of a Perceptron after a number of updates (Theorem 3).

    The bound is ``min(1/3, 1 / (5 sqrt(updates + start^2)))``. *start* is the norm of the first vector, whose
    product with the target must not be negative. Error eps therefore needs of the order of 1/eps^2 labels,
    under any query rule.
    """
    norm = math.sqrt(updates + start * start)
    return min(1 / 3, 1 / (5 * norm)) if norm else 1 / 3


def modified_mistakes(features: int, error: float, delta: float) -> float:
    """Return a number of mistakes that is sufficient for the modified Perceptron (Theorem 4, erratum E1).

    ``150 d ln(1 / (4 eps^2 delta))``. The printed ``eps delta`` guarantees an error of sqrt(eps) / 2 only.

    Parameters
    ----------
    features : int
        Number d of features, at least 2.
    error : float
        Error eps on the uniform sphere, above 0.
    delta : float
        Probability of failure, above 0.
    """
    return (
        150 * features * math.log(1 / (4 * _check_share(error, "error") ** 2 * _check_share(delta, "delta")))
    )


def modified_shrink(features: int) -> float:
    """Return the factor by which an update shrinks 1 - v.u with probability >= 1/3 (Lemma 4)."""
    return 1 - 1 / (50 * features)


def band_share(gamma: float) -> tuple[float, float]:
    """Return bounds of P(|a.x| <= gamma / sqrt(d)) on the uniform sphere, for gamma up to 1 (Lemma 2)."""
    if not 0 < gamma <= 1:
        raise InputError(f"gamma must be > 0 and <= 1, got {gamma!r}.")
    return gamma / 4, gamma


def error_in_band_width(sine: float, features: int) -> float:
    """Return the half width of a band in which a quarter of the points are errors (Lemma 6, erratum E2).

    The half width is ``sin(theta) / sqrt(4 d)``, where *sine* is the sine of the angle to the target. The
    claim also holds for any narrower band.
    """
    return sine / math.sqrt(4 * features)


def error_in_band(similarity: float = 1.0) -> float:
    """Return the minimum P(error | in the band) for :func:`error_in_band_width`.

    It is 1/4, or lambda^2 / 4 for a lambda-similar distribution.
    """
    return _check_share(similarity, "similarity") ** 2 / 4


def dkm_patience(labels: int, delta: float, similarity: float = 1.0, constant: float = 10.0) -> float:
    """Return R of DKM for a number of labels, the solution of R = C / lambda^2 ln(2 L / (delta R)).

    Parameters
    ----------
    labels : int
        L, the total number of labels to query, at least 1.
    delta : float
        Probability of failure, above 0.
    similarity : float
        lambda, above 0 and at most 1; 1 is the uniform sphere (Theorem 5).
    constant : float
        C. Theorem 7 requires more than 4 (erratum E8); Theorem 5 uses 10.

    Returns
    -------
    float
        R; round it up before use.
    """
    scale = constant / _check_share(similarity, "similarity") ** 2
    ratio = 2 * labels / _check_share(delta, "delta") / scale
    from scipy.special import lambertw

    return scale * float(lambertw(ratio).real)


def dkm_band_failure(labels: int, patience: int) -> float:
    """Return the maximum P(the band ever falls below :func:`dkm_band_floor`), L (3/4)^R (Lemma 5)."""
    return labels * 0.75**patience


def dkm_band_floor(sine: float, features: int) -> float:
    """Return the lower bound of the half width s of DKM's band, sin(theta) / (4 sqrt(d)) (Lemma 5)."""
    return sine / (4 * math.sqrt(features))


def dkm_query_share(similarity: float = 1.0) -> float:
    """Return the minimum P(an error is queried), 1/32 or lambda^4 / 32 (Lemma 7, Theorem 7)."""
    return _check_share(similarity, "similarity") ** 4 / 32


def dkm_errors(updates: int, similarity: float = 1.0) -> float:
    """Return the maximum wrong predictions for a number of updates, 64 U / lambda^4 (Theorems 5 and 7)."""
    return 64 * updates / _check_share(similarity, "similarity") ** 4


def dkm_updates(features: int, delta: float, cosine: float, c: float = 0.02) -> float:
    """Return the maximum updates until u.v reaches *cosine* (Theorem 5).

    ``(2 d / c) ln(4 / (delta (1 - u.v)))``.

    Parameters
    ----------
    features : int
        Number d of features.
    delta : float
        Probability of failure, above 0.
    cosine : float
        u.v, below 1.
    c : float
        Constant of Lemma 4, which does not state it; 1/50 is the constant of :func:`modified_shrink`.
    """
    return 2 * features / c * math.log(4 / (_check_share(delta, "delta") * (1 - cosine)))


def dkm_last_band(updates: int, labels: int, patience: int) -> float:
    """Return the maximum final width of the band relative to the first, 2^(U - L / R) (Theorem 5).

    Parameters
    ----------
    updates, labels : int
        U and L.
    patience : int
        R.
    """
    return float(2.0 ** (updates - labels / patience))


def _check_positive(value: float, name: str) -> float:
    if not value > 0:
        raise InputError(f"{name} must be > 0, got {value!r}.")
    return value


def _check_share(value: float, name: str) -> float:
    if not 0 < value <= 1:
        raise InputError(f"{name} must be > 0 and <= 1, got {value!r}.")
    return value
