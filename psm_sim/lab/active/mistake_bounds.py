"""Mistake bounds and optimal tunings of CBGZ and LASEC on arbitrary sequences.

Each function accepts the sums that the theorem uses, so it can be evaluated for any comparator.
:mod:`psm_sim.lab.active.bound_comparators` finds the best comparator. Throughout, z = u / gamma is the
comparator and ``hinge`` is the expected sum over updates of max(0, 1 - y z.x).
"""

from __future__ import annotations

import math


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
