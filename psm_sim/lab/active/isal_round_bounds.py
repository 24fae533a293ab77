"""Theorems on learners that choose their own instances in many dimensions ([003] 5.2.2 to 5.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from psm_sim.common.errors import InputError


class Round(NamedTuple):
    """Parameters of one ISAL or ISALn round: draws, half margin, target excess error, radius (angle)."""

    draws: float
    half_margin: float
    excess: float
    radius: float


def separable_round(
    i: int, d: int, delta: float, largest_weight: float = 1.0, constant: float = 1.0
) -> Round:
    """Return round i of ISAL on the unit ball without noise.

    Source: [003] Theorem 4 for d >= 4, else Theorem 3. After ceil(log2(1/eps)) rounds (2 fewer for d >= 4)
    the error is at most eps with probability 1 - delta.

    Parameters
    ----------
    i : int
        Number of the round, from 1.
    d : int
        Number of features.
    delta : float
        Probability of failure, 0 to 1.
    largest_weight : float
        r_max, the largest importance weight, at least 1.
    constant : float
        Constant C of the theorem, which only proves its existence.
    """
    _check_round(i, d, delta)
    if d < 4:
        draws, margin = math.sqrt(d) * (d * math.log(d) + math.log(i / delta)), math.pi / 2 ** (i - 1)
    else:
        draws = math.sqrt(math.log(1 + i)) * (d * math.log(1 + math.log(i)) + math.log(i / delta))
        margin = 2 ** (1 - i) * math.pi / math.sqrt(d) * math.sqrt(5 + math.log(1 + i))
    return Round(largest_weight * constant * draws, margin, 0.0, math.pi)


def separable_draws(
    error: float, d: int, delta: float, largest_weight: float = 1.0, constant: float = 1.0
) -> float:
    """Return the number of draws until the error is at most *error*.

    Source: [003] Corollary 2 for d >= 4, else Corollary 1.

    Parameters
    ----------
    error : float
        Above 0; below 1/4 for d >= 4, else below 1.
    d : int
        Number of features.
    delta : float
        Probability of failure, 0 to 1.
    largest_weight, constant : float
        See :func:`separable_round`.
    """
    _expect(0 < error < (0.25 if d >= 4 else 1), "error must be > 0 and < 1/4 (1 for d < 4)", f"{error}")
    rounds = math.ceil(math.log2(1 / error)) - (2 if d >= 4 else 0)
    return rounds * separable_round(rounds, d, delta, largest_weight, constant).draws


def noisy_draws(
    error: float,
    d: int,
    delta: float,
    beta: float,
    alpha: float = 0.0,
    rates: tuple[float, float] = (1.0, 1.0),
) -> float:
    """Return the draws of all ISALn rounds until the excess error is at most *error* ([003] Theorem 5).

    Parameters
    ----------
    error : float
        Above 0 and below beta/8.
    d, delta, beta, alpha, rates
        See :func:`noisy_round`.
    """
    _expect(0 < error < beta / 8, f"error must be between 0 and beta/8 = {beta / 8:g}", f"{error}")
    rounds = math.ceil(math.log2(beta / error))
    return sum(noisy_round(i, d, delta, beta, alpha, rates).draws for i in range(1, rounds + 1))


def noisy_round(
    i: int, d: int, delta: float, beta: float, alpha: float = 0.0, rates: tuple[float, float] = (1.0, 1.0)
) -> Round:
    """Return round i of ISALn ([003] Theorem 5).

    After ceil(log2(beta/eps)) rounds the error exceeds the minimum by at most eps, for eps < beta/8, with
    probability 1 - delta.

    Parameters
    ----------
    i : int
        Number of the round, from 1.
    d : int
        Number of features, at least 4.
    delta : float
        Probability of failure, 0 to 1.
    beta : float
        Noise level: |P(+|x) - P(-|x)| >= 4 beta; above 0 and at most 1/4.
    alpha : float
        Exponent of the noise near the plane, at least 0 and below 1 ([003] (5.61)).
    rates : tuple of float
        r_max, and the constant C of the theorem, which only proves its existence.
    """
    _check_round(i, d, delta)
    _expect(
        d >= 4 and 0 < beta <= 0.25,
        "d must be >= 4, and beta > 0 and <= 0.25",
        f"{d} and {beta}",
    )
    _expect(0 <= alpha < 1, "alpha must be >= 0 and < 1", f"{alpha}")
    common = 5 + alpha * i * math.log(2) - math.log(beta)
    excess = 2 ** (-alpha * (i - 1) - 4) * beta / math.sqrt(common + math.log(1 + i))
    margin = 2 ** (-(1 - alpha) * i) * math.pi / math.sqrt(d) * math.sqrt(common + math.log(2 + i))
    radius = math.pi if i == 1 else 2 ** (-(1 - alpha) * i - 2) * math.pi
    draws = rates[0] * rates[1] * (d + math.log(i / delta)) / excess**2
    return Round(draws, margin, excess, radius)


def excess_error(n: int, delta: float, largest_weight: float, fat: Callable[[float], float]) -> float:
    """Return a bound on L(h_n) - min L for the h_n of least weighted error ([003] Theorem 6, corrected).

    It is twice the deviation 2 r_max inf_a {4a + 12 (1 - a) sqrt(fat(a) ln(2 e n / a) / n)} +
    r_max sqrt(8 ln(2/delta) / n); [003] omits the factor 2.

    Parameters
    ----------
    n : int
        Number of queried labels, at least 1.
    delta : float
        Probability of failure, 0 to 1.
    largest_weight : float
        r_max, at least 1.
    fat : callable
        Fat-shattering dimension of the hypotheses at a scale above 0.
    """
    from scipy.optimize import minimize_scalar

    _check_round(n, 1, delta)
    _expect(largest_weight >= 1, "largest_weight must be >= 1", f"{largest_weight}")

    def complexity(log_a: float) -> float:
        a = math.exp(log_a)
        return 4 * a + 12 * (1 - a) * math.sqrt(fat(a) * math.log(2 * math.e * n / a) / n)

    minimum = min(float(minimize_scalar(complexity, bounds=(math.log(1e-9), 0), method="bounded").fun), 4.0)
    return 2 * largest_weight * (2 * minimum + math.sqrt(8 * math.log(2 / delta) / n))


def _check_round(i: int, d: int, delta: float) -> None:
    _expect(i >= 1 and d >= 1, "the counts must be integers >= 1", f"{i} and {d}")
    _expect(0 < delta < 1, "delta must be a probability between 0 and 1", f"{delta}")


def _expect(holds: bool, requirement: str, value: str) -> None:
    if not holds:
        raise InputError(f"{requirement}, got {value}.")
