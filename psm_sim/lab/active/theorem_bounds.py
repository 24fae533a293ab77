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


def perceptron_angle_floor(updates: int) -> float:
    """Return the minimum sin(angle) of a Perceptron after a number of updates (Theorem 3).

    The bound is ``min(1/3, 1 / (5 sqrt(updates)))`` from the vector 0. Error eps therefore needs of the order
    of 1/eps^2 labels, under any query rule.
    """
    return min(1 / 3, 1 / (5 * math.sqrt(updates))) if updates else 1 / 3


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


def dkm_patience(labels: int, delta: float, similarity: float = 1.0) -> float:
    """Return R of DKM for a number of labels, the solution of R = 10 / lambda^2 ln(2 L / (delta R)).

    Theorem 7 needs a constant of more than 4 only (erratum E8); Theorem 5 uses 10.

    Parameters
    ----------
    labels : int
        L, the total number of labels to query, at least 1.
    delta : float
        Probability of failure, above 0.
    similarity : float
        lambda, above 0 and at most 1; 1 is the uniform sphere (Theorem 5).

    Returns
    -------
    float
        R; round it up before use.
    """
    scale = 10 / _check_share(similarity, "similarity") ** 2
    ratio = 2 * labels / _check_share(delta, "delta") / scale
    from scipy.special import lambertw

    return scale * float(lambertw(ratio).real)


def dkm_errors(updates: int, similarity: float = 1.0) -> float:
    """Return the maximum wrong predictions for a number of updates, 64 U / lambda^4 (Theorems 5 and 7)."""
    return 64 * updates / _check_share(similarity, "similarity") ** 4


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
