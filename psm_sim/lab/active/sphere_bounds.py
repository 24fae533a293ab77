"""Theorems on the uniform sphere as functions: perceptrons and DKM (thesis, chapters 3 and 4).

Errata of the papers are applied; the functions say where.
"""

from __future__ import annotations

import math

from psm_sim.errors import InputError


def perceptron_mistakes(margin: float, radius: float = 1.0) -> float:
    """Return the most mistakes of a Perceptron, (radius / margin)^2, on instances no longer than *radius*."""
    return (_above_0(radius, "radius") / _above_0(margin, "margin")) ** 2


def perceptron_angle_floor(updates: int, start: float = 0.0) -> float:
    """Return the least sin(angle) that a Perceptron can have after that many updates (Theorem 3).

    ``min(1/3, 1 / (5 sqrt(updates + start^2)))``, *start* the norm of the first vector, whose product with
    the target is not negative. Hence of the order of 1/eps^2 labels for error eps, under any query rule.
    """
    norm = math.sqrt(updates + start * start)
    return min(1 / 3, 1 / (5 * norm)) if norm else 1 / 3


def modified_mistakes(features: int, error: float, delta: float) -> float:
    """Return how many mistakes suffice for the modified Perceptron (Theorem 4, erratum E1).

    ``150 d ln(1 / (4 eps^2 delta))``; the printed ``eps delta`` gives an error of sqrt(eps) / 2 only.

    Parameters
    ----------
    features : int
        d, at least 2.
    error : float
        eps, the error on the uniform sphere, above 0.
    delta : float
        Probability of failure, above 0.
    """
    return 150 * features * math.log(1 / (4 * _share(error, "error") ** 2 * _share(delta, "delta")))


def modified_shrink(features: int) -> float:
    """Return the factor by which an update shrinks 1 - v.u with probability 1/3 or more (Lemma 4)."""
    return 1 - 1 / (50 * features)


def band_share(gamma: float) -> tuple[float, float]:
    """Return bounds of P(|a.x| <= gamma / sqrt(d)) on the uniform sphere, for gamma up to 1 (Lemma 2)."""
    if not 0 < gamma <= 1:
        raise InputError(f"gamma is {gamma!r}; expected above 0 and at most 1.")
    return gamma / 4, gamma


def error_in_band_width(sine: float, features: int) -> float:
    """Return the half width of a band in which a quarter of the points are errors (Lemma 6, erratum E2).

    ``sin(theta) / sqrt(4 d)``, *sine* that of the angle to the target; any narrower band does too.
    """
    return sine / math.sqrt(4 * features)


def error_in_band(similarity: float = 1.0) -> float:
    """Return the least P(error | in the band) there: 1/4; lambda^2 / 4 if lambda-similar."""
    return _share(similarity, "similarity") ** 2 / 4


def dkm_patience(labels: int, delta: float, similarity: float = 1.0, constant: float = 10.0) -> float:
    """Return DKM's R for a number of labels: the solution of R = C / lambda^2 ln(2 L / (delta R)).

    Parameters
    ----------
    labels : int
        L, all the labels that will be bought, at least 1.
    delta : float
        Probability of failure, above 0.
    similarity : float
        lambda, above 0, at most 1; 1 is the uniform sphere (Theorem 5).
    constant : float
        C; Theorem 7 needs more than 4 (erratum E8), 10 is Theorem 5's.

    Returns
    -------
    float
        R; round it up to use it.
    """
    scale = constant / _share(similarity, "similarity") ** 2
    ratio = 2 * labels / _share(delta, "delta") / scale
    from scipy.special import lambertw

    return scale * float(lambertw(ratio).real)


def dkm_band_failure(labels: int, patience: int) -> float:
    """Return the most P(the band ever falls below :func:`dkm_band_floor`), L (3/4)^R (Lemma 5)."""
    return labels * 0.75**patience


def dkm_band_floor(sine: float, features: int) -> float:
    """Return the least half width s of DKM's band, sin(theta) / (4 sqrt(d)), where Lemma 5 holds."""
    return sine / (4 * math.sqrt(features))


def dkm_query_share(similarity: float = 1.0) -> float:
    """Return the least P(an error is asked about): 1/32, or lambda^4 / 32 (Lemma 7, Theorem 7)."""
    return _share(similarity, "similarity") ** 4 / 32


def dkm_errors(updates: int, similarity: float = 1.0) -> float:
    """Return the most wrong predictions for a number of updates: 64 U / lambda^4 (Theorems 5 and 7)."""
    return 64 * updates / _share(similarity, "similarity") ** 4


def dkm_updates(features: int, delta: float, cosine: float, c: float = 0.02) -> float:
    """Return the most updates until u.v reaches *cosine*: (2 d / c) ln(4 / (delta (1 - u.v))) (Theorem 5).

    Parameters
    ----------
    features : int
        d.
    delta : float
        Probability of failure, above 0.
    cosine : float
        u.v, below 1.
    c : float
        Constant of Lemma 4, which does not name it; 1/50 is that of :func:`modified_shrink`.
    """
    return 2 * features / c * math.log(4 / (_share(delta, "delta") * (1 - cosine)))


def dkm_last_band(updates: int, labels: int, patience: int) -> float:
    """Return the most that the band can be after all: 2^(U - L / R) of the first one (Theorem 5).

    Parameters
    ----------
    updates, labels : int
        U and L.
    patience : int
        R.
    """
    return float(2.0 ** (updates - labels / patience))


def _above_0(value: float, what: str) -> float:
    if not value > 0:
        raise InputError(f"{what} is {value!r}; expected above 0.")
    return value


def _share(value: float, what: str) -> float:
    if not 0 < value <= 1:
        raise InputError(f"{what} is {value!r}; expected above 0 and at most 1.")
    return value
