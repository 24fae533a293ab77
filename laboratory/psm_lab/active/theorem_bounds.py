"""Theorems on active learners as functions.

The first functions are for Perceptrons and DKM on the uniform sphere (thesis, chapters 3 and 4), the others
for arbitrary sequences. The latter accept the sums that their theorems use, so they can be evaluated for any
comparator. :mod:`psm_lab.active.bound_comparators` finds the best comparator. In both modules, z = u / gamma
is the comparator and ``hinge`` is the expected sum over updates of max(0, 1 - y z.x).

Errata of the papers are applied, as noted in each function.
"""

from __future__ import annotations

import math

from psm_sim.common.errors import InputError


def modified_mistakes(features: int, error: float, delta: float) -> float:
    """Return a number of mistakes that is sufficient for the modified Perceptron (Theorem 4, erratum E1).

    ``150 d ln(1 / (4 eps^2 delta))``. The thesis prints ``eps delta`` in place of ``4 eps^2 delta``, which
    guarantees only an error of sqrt(eps) / 2.

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


def dkm_patience(labels: int, delta: float) -> float:
    """Return R of DKM for a number of labels, the solution of R = 10 ln(2 L / (delta R)) (Theorem 5).

    Parameters
    ----------
    labels : int
        L, the total number of labels to query, at least 1.
    delta : float
        Probability of failure, above 0.

    Returns
    -------
    float
        R; round it up before use.
    """
    from scipy.special import lambertw

    return 10 * float(lambertw(2 * labels / _check_share(delta, "delta") / 10).real)


def dkm_errors(updates: int) -> float:
    """Return the maximum number of wrong predictions for U updates, 64 U (Theorem 5)."""
    return 64 * updates


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


def lasec_ss_bound(b: float, hinge: float, quadratic: float, spreads: float) -> float:
    """Return the expected mistakes of LASEC with the margin rule ([001] Theorem 4).

    ``hinge + (b/2) quadratic + spreads / (2b)``.

    Parameters
    ----------
    b : float
        Parameter of the margin rule, above 0.
    hinge : float
        Expected hinge sum over the queried mistakes.
    quadratic : float
        Over the queried mistakes, expected ridge |z_1|^2 + c V + sum (z_k.x_k)^2, V = sum |z_k - z_{k-1}|^2.
    spreads : float
        Expected sum of x'D_k^-1 x = q / (1 + q) over the queried mistakes.
    """
    return cbgz2_bound(b, hinge, quadratic, spreads)
