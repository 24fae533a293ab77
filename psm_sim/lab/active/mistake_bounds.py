"""Theorems for any sequence as functions: bounds and tunings of CBGZ and LASEC.

Each takes what the theorem sums, so that a caller can evaluate it for a comparator of their own;
:mod:`psm_sim.lab.active.bound_comparators` finds the best one. In all of them z = u / gamma is the comparator,
``hinge`` is the expected sum over updates of max(0, 1 - y z.x).
"""

from __future__ import annotations

import math


def cbgz_bound(b: float, hinge: float, square: float) -> float:
    """Return Theorem 1 of [002]: expected mistakes of first-order CBGZ, on instances of norm 1.

    ``(2b+1)/(2b) hinge + (2b+1)^2/(8b) |z|^2``.

    Parameters
    ----------
    b : float
        The parameter of the margin coin, above 0.
    hinge : float
        Expected hinge sum over the updates.
    square : float
        |z|^2 = |u|^2 / gamma^2.
    """
    return (2 * b + 1) / (2 * b) * hinge + (2 * b + 1) ** 2 / (8 * b) * square


def cbgz_best_b(hinge: float, square: float) -> float:
    """Return the b that makes :func:`cbgz_bound` least, in hindsight; 1/2 where *hinge* is 0.

    ``sqrt(1 + 4 hinge / |z|^2) / 2``; *square* is |z|^2, above 0.
    """
    return math.sqrt(1 + 4 * hinge / square) / 2


def cbgz_tuned_bound(hinge: float, square: float) -> float:
    """Return :func:`cbgz_bound` at the best b (equation 8 of [002], erratum E6: its root has factor |z|)."""
    return hinge + square / 2 + math.sqrt(square * (hinge + square / 4))


def cbgz2_bound(b: float, hinge: float, quadratic: float, logdet: float) -> float:
    """Return Theorem 2 of [002]: expected mistakes of second-order CBGZ.

    ``hinge + (b/2) z'E[A]z + E ln det A / (2b)``.

    Parameters
    ----------
    b : float
        The parameter of the second-order coin, above 0.
    hinge : float
        Expected hinge sum over the updates.
    quadratic : float
        z'E[A]z, A = I + sum of x x' over the updates.
    logdet : float
        E ln det A.
    """
    return hinge + b / 2 * quadratic + logdet / (2 * b)


def cbgz2_best_b(quadratic: float, logdet: float) -> float:
    """Return the b that makes :func:`cbgz2_bound` and :func:`lasec_ss_bound` least, in hindsight."""
    return math.sqrt(logdet / quadratic)


def cbgz2_tuned_bound(hinge: float, quadratic: float, logdet: float) -> float:
    """Return :func:`cbgz2_bound` at the best b (equation 9); *hinge*, *quadratic*, *logdet* as there."""
    return hinge + math.sqrt(quadratic * logdet)


def lasec_bound(hinge: float, quadratic: float, spreads: float) -> float:
    """Return Theorem 2 of [001]: mistakes of LASEC when every label is bought.

    Parameters
    ----------
    hinge : float
        Hinge sum over all rounds; that over the mistakes is enough.
    quadratic : float
        ridge |z_1|^2 + c V + sum (z_k.x_k)^2 over the mistakes, V = sum |z_k - z_{k-1}|^2.
    spreads : float
        Sum of x'D_k^-1 x over the mistakes, q / (1 + q) each.
    """
    return hinge + math.sqrt(quadratic * spreads)


def lasec_ss_bound(b: float, hinge: float, quadratic: float, spreads: float) -> float:
    """Return Theorem 4 of [001]: expected mistakes of LASEC with the margin coin.

    ``hinge + (b/2) quadratic + spreads / (2b)``.

    Parameters
    ----------
    b : float
        The parameter of the margin coin, above 0.
    hinge, quadratic, spreads : float
        As in :func:`lasec_bound`, in expectation over the coins, over bought mistakes.
    """
    return cbgz2_bound(b, hinge, quadratic, spreads)


def lasec_spreads_bound(
    log_ratio: float, updates: int, features: int, longest: float, ridge: float, c: float
) -> float:
    """Return the most that the sum of x'D_k^-1 x over the updates can be (equation 10 of [001]).

    Parameters
    ----------
    log_ratio : float
        ln det(D_m / ridge).
    updates : int
        m.
    features : int
        d.
    longest : float
        X, the largest norm of an instance.
    ridge, c : float
        Of LASEC, ridge below c.
    """
    trace = features * ridge * c / (c - ridge)
    return log_ratio + (trace + updates * features * _largest_eigenvalue(longest, ridge, c)) / c


def lasec_best_c(drift: float, rounds: int, features: int, longest: float) -> float:
    """Return the c of Corollary 8 of [001], (sqrt(2) T d X / V)^(2/3): mistakes grow as T^(1/3) V^(2/3).

    Parameters
    ----------
    drift : float
        V, the sum of |u_k - u_{k-1}|^2, above 0; it must be known.
    rounds : int
        T.
    features : int
        d.
    longest : float
        X, the largest norm of an instance.
    """
    return float((math.sqrt(2) * rounds * features * longest / drift) ** (2 / 3))


def lasec_drift_limit(rounds: int, features: int, longest: float, ridge: float) -> float:
    """Return the largest V for which Corollary 8 holds, T sqrt(2) d X / mu^(3/2).

    Parameters
    ----------
    rounds, features : int
        T and d.
    longest : float
        X, the largest norm of an instance.
    ridge : float
        Of LASEC.
    """
    square = longest * longest
    mu = max(9 / 8 * square, (ridge + square) ** 2 / (8 * square))
    return rounds * math.sqrt(2) * features * longest / (mu * math.sqrt(mu))


def lasec_solved(hinge: float, quadratic: float, fixed: float, per_mistake: float) -> float:
    """Return the most mistakes m with ``m <= hinge + sqrt(quadratic (fixed + m per_mistake))`` (Lemma 7).

    Parameters
    ----------
    hinge, quadratic : float
        As in :func:`lasec_bound`.
    fixed, per_mistake : float
        B and C: :func:`lasec_spreads_bound` is B + m C.
    """
    half = quadratic * per_mistake / 2
    return hinge + half + math.sqrt(2 * hinge * half + half * half + quadratic * fixed)


def _largest_eigenvalue(longest: float, ridge: float, c: float) -> float:
    square = longest * longest
    return max((3 * square + math.sqrt(square * square + 4 * square * c)) / 2, ridge + square)
