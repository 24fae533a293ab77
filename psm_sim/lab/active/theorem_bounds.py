"""Theorems on active learners as functions: bounds, and optimal tunings of CBGZ and LASEC.

The first group is for Perceptrons and DKM on the uniform sphere (thesis, chapters 3 and 4), the second for
arbitrary sequences. A function of the second group accepts the sums that its theorem uses, so it can be
evaluated for any comparator. :mod:`psm_sim.lab.active.bound_comparators` finds the best comparator. There,
z = u / gamma is the comparator and ``hinge`` is the expected sum over updates of max(0, 1 - y z.x).

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


def cbgz_bound(b: float, hinge: float, square: float) -> float:
    """Return the expected mistakes of first-order CBGZ on instances of norm 1 ([002] Theorem 1).

    ``(2b+1)/(2b) hinge + (2b+1)^2/(8b) |z|^2``.

    Parameters
    ----------
    b : float
        Parameter of the margin rule, above 0.
    hinge : float
        Expected hinge sum over the updates.
    square : float
        |z|^2 = |u|^2 / gamma^2.
    """
    return (2 * b + 1) / (2 * b) * hinge + (2 * b + 1) ** 2 / (8 * b) * square


def cbgz_best_b(hinge: float, square: float) -> float:
    """Return the b that minimises :func:`cbgz_bound` (offline optimum); 1/2 if *hinge* is 0.

    ``sqrt(1 + 4 hinge / |z|^2) / 2``; *square* is |z|^2, above 0.
    """
    return math.sqrt(1 + 4 * hinge / square) / 2


def cbgz_tuned_bound(hinge: float, square: float) -> float:
    """Return :func:`cbgz_bound` at the best b, for *hinge* and *square* as there.

    Source: [002] equation 8 with erratum E6 (its root has the factor |z|).
    """
    return hinge + square / 2 + math.sqrt(square * (hinge + square / 4))


def cbgz2_bound(b: float, hinge: float, quadratic: float, logdet: float) -> float:
    """Return the expected mistakes of second-order CBGZ ([002] Theorem 2).

    ``hinge + (b/2) z'E[A]z + E ln det A / (2b)``.

    Parameters
    ----------
    b : float
        Parameter of the second-order rule, above 0.
    hinge : float
        Expected hinge sum over the updates.
    quadratic : float
        z'E[A]z with A = I + sum of x x' over the updates.
    logdet : float
        E ln det A.
    """
    return hinge + b / 2 * quadratic + logdet / (2 * b)


def cbgz2_best_b(quadratic: float, logdet: float) -> float:
    """Return the b that minimises :func:`cbgz2_bound` and :func:`lasec_ss_bound` (offline optimum)."""
    return math.sqrt(logdet / quadratic)


def cbgz2_tuned_bound(hinge: float, quadratic: float, logdet: float) -> float:
    """Return :func:`cbgz2_bound` at the best b ([002] equation 9).

    See :func:`cbgz2_bound` for *hinge*, *quadratic* and *logdet*.
    """
    return hinge + math.sqrt(quadratic * logdet)


def lasec_bound(hinge: float, quadratic: float, spreads: float) -> float:
    """Return the mistakes of LASEC if every label is queried ([001] Theorem 2).

    Parameters
    ----------
    hinge : float
        Hinge sum over all rounds; the sum over the mistakes is sufficient.
    quadratic : float
        ridge |z_1|^2 + c V + sum (z_k.x_k)^2 over the mistakes, V = sum |z_k - z_{k-1}|^2.
    spreads : float
        Sum of x'D_k^-1 x = q / (1 + q) over the mistakes.
    """
    return hinge + math.sqrt(quadratic * spreads)


def lasec_ss_bound(b: float, hinge: float, quadratic: float, spreads: float) -> float:
    """Return the expected mistakes of LASEC with the margin rule ([001] Theorem 4).

    ``hinge + (b/2) quadratic + spreads / (2b)``.

    Parameters
    ----------
    b : float
        Parameter of the margin rule, above 0.
    hinge, quadratic, spreads : float
        As in :func:`lasec_bound`, but expected values over the queried mistakes.
    """
    return cbgz2_bound(b, hinge, quadratic, spreads)


def lasec_spreads_bound(
    log_ratio: float, updates: int, features: int, longest: float, ridge: float, c: float
) -> float:
    """Return the maximum sum of x'D_k^-1 x over the updates ([001] equation 10).

    Parameters
    ----------
    log_ratio : float
        ln det(D_m / ridge).
    updates : int
        Number m of updates.
    features : int
        Number d of features.
    longest : float
        X, the largest norm of an instance.
    ridge, c : float
        Parameters of LASEC, ridge below c.
    """
    trace = features * ridge * c / (c - ridge)
    return log_ratio + (trace + updates * features * _largest_eigenvalue(longest, ridge, c)) / c


def lasec_best_c(drift: float, rounds: int, features: int, longest: float) -> float:
    """Return c = (sqrt(2) T d X / V)^(2/3), the tuning of [001] Corollary 8.

    The number of mistakes then grows as T^(1/3) V^(2/3).

    Parameters
    ----------
    drift : float
        V, the sum of |u_k - u_{k-1}|^2, above 0; it must be known.
    rounds : int
        Number T of rounds.
    features : int
        Number d of features.
    longest : float
        X, the largest norm of an instance.
    """
    return float((math.sqrt(2) * rounds * features * longest / drift) ** (2 / 3))


def lasec_drift_limit(rounds: int, features: int, longest: float, ridge: float) -> float:
    """Return the largest V for which [001] Corollary 8 applies, T sqrt(2) d X / mu^(3/2).

    Parameters
    ----------
    rounds, features : int
        T and d.
    longest : float
        X, the largest norm of an instance.
    ridge : float
        Parameter of LASEC.
    """
    square = longest * longest
    mu = max(9 / 8 * square, (ridge + square) ** 2 / (8 * square))
    return rounds * math.sqrt(2) * features * longest / (mu * math.sqrt(mu))


def lasec_solved(hinge: float, quadratic: float, fixed: float, per_mistake: float) -> float:
    """Return the largest m with ``m <= hinge + sqrt(quadratic (fixed + m per_mistake))`` ([001] Lemma 7).

    Parameters
    ----------
    hinge, quadratic : float
        See :func:`lasec_bound`.
    fixed, per_mistake : float
        B and C, where :func:`lasec_spreads_bound` equals B + m C.
    """
    half = quadratic * per_mistake / 2
    return hinge + half + math.sqrt(2 * hinge * half + half * half + quadratic * fixed)


def _largest_eigenvalue(longest: float, ridge: float, c: float) -> float:
    square = longest * longest
    return max((3 * square + math.sqrt(square * square + 4 * square * c)) / 2, ridge + square)
