"""Upper and lower regret bounds, in nats (thesis, sections 2.2 to 2.4).

L_T(alpha) is the cumulative mixture loss of Fixed-share over T rounds, and alpha* its minimiser in hindsight
(:func:`~psm_sim.learning.best_rate`). *alpha* can be an array, and the bound then has its shape.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning import input_checks
from psm_sim.learning.switching_rates import relative_entropy, switching_rates


def upper_bound(rounds: int, best_alpha: float, alpha: ArrayLike) -> FloatArray:
    """Return (T - 1) D(alpha*||alpha), the upper bound of L_T(alpha) - L_T(alpha*) (Theorem 1).

    Parameters
    ----------
    rounds : int
        Number of rounds T, at least 1.
    best_alpha : float
        alpha*, 0 to 1.
    alpha : array_like
        Switching rates, 0 to 1.

    Returns
    -------
    ndarray
        Bound, with the shape of *alpha*.
    """
    entropy = relative_entropy(_best(best_alpha), _rates(alpha))
    transitions = _transitions(rounds)
    return transitions * entropy if transitions else np.zeros_like(entropy)


def learn_alpha_bound(rounds: int, best_alpha: float, rates: ArrayLike) -> float:
    """Return log m + (T - 1) min_j D(alpha*||alpha_j), the regret bound of Learn-alpha (Corollary 1).

    Parameters
    ----------
    rounds : int
        Number of rounds T, at least 1.
    best_alpha : float
        alpha*, 0 to 1.
    rates : array_like, shape (m,)
        Switching rates alpha_j of the learner, 0 to 1.
    """
    checked_rates = input_checks.check_rates(rates)
    return math.log(checked_rates.size) + float(upper_bound(rounds, best_alpha, checked_rates).min())


def learn_alpha_optimal_bound(rounds: int) -> float:
    """Return log m + (T - 1) delta*, with delta* = 1 / (2 T) (Corollary 1 at its optimal rates).

    The regret of Learn-alpha with ``switching_rates(rounds)`` never exceeds this bound, for any alpha*. The
    bound grows as 1/2 log T plus a constant. It depends on neither the losses nor the number of experts
    (thesis, section 2.3).
    """
    return math.log(switching_rates(rounds).size) + _transitions(rounds) / (2 * rounds)


def lower_bound(rounds: int, best_alpha: float, alpha: ArrayLike, beta: float) -> FloatArray:
    """Return the lower bound of L_T(alpha) - L_T(alpha*) (Theorem 2; thesis, eq. 2.16).

    Parameters
    ----------
    rounds : int
        Number of rounds T, at least 1.
    best_alpha : float
        alpha*. At 0 or 1 the theorem does not apply, and the bound is 0.
    alpha : array_like
        Switching rates, 0 to 1.
    beta : float
        Relative quality beta* of the minimum (eq. 2.15), 0 to 1. At 1 both bounds agree. A value smaller than
        the true one weakens the bound, but keeps it valid.
    """
    best, rates = _best(best_alpha), _rates(alpha)
    beta = input_checks.check_probability(beta, "beta*")
    transitions = _transitions(rounds)
    if not 0 < best < 1 or not transitions:
        return np.zeros_like(rates)
    switch, stay = _log_ratio(rates, best), _log_ratio(1 - rates, 1 - best)
    above = _two_point_regret(transitions, best, 1 - beta, switch, stay)
    # (2.30), for rates below alpha*, is (2.31) with the roles of switching and staying exchanged.
    below = _two_point_regret(transitions, 1 - best, 1 - beta, stay, switch)
    # alpha* is the minimum, so 0 is also a lower bound. Rounding can bring the theorem's bound below 0.
    bound: FloatArray = np.maximum(np.where(rates >= best, above, below), 0.0)
    return bound


def _log_ratio(rates: FloatArray, best: float) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(rates) - math.log(best))


def _two_point_regret(
    transitions: int, mean: float, spread: float, ratio_at_one: FloatArray, ratio_at_zero: FloatArray
) -> FloatArray:
    """Return -log E_Q exp((T-1)[D(a||alpha*) - D(a||alpha)]) for the two-point Q of (2.31).

    Q has mean alpha* and variance *spread* alpha* (1 - alpha*) / (T - 1). It has weight q1 at a = 1, and the
    rest at the inner point (alpha* - q1) / (1 - q1) = alpha* (1 - spread / (T - 1)).

    Parameters
    ----------
    transitions : int
        T - 1.
    mean : float
        alpha*.
    spread : float
        Variance of Q in units of alpha* (1 - alpha*) / (T - 1).
    ratio_at_one, ratio_at_zero : ndarray
        Logarithms of alpha / alpha* and (1 - alpha) / (1 - alpha*), the exponents at a = 1 and a = 0.
    """
    inner_weight = transitions * (1 - mean) / mean
    inner_point = mean * (1 - spread / transitions)
    with np.errstate(divide="ignore"):
        at_one = np.log(spread / (spread + inner_weight)) + transitions * ratio_at_one
        part_of_one = np.multiply(
            inner_point, ratio_at_one, where=inner_point > 0, out=np.zeros_like(ratio_at_one)
        )
        at_inner = math.log(inner_weight / (spread + inner_weight)) + transitions * (
            part_of_one + (1 - inner_point) * ratio_at_zero
        )
    regret: FloatArray = -np.logaddexp(at_one, at_inner)
    return regret


def _transitions(rounds: int) -> int:
    return input_checks.check_int(rounds, "the number of rounds") - 1


def _best(alpha: float) -> float:
    return input_checks.check_probability(alpha, "alpha*")


def _rates(alpha: ArrayLike) -> FloatArray:
    rates = np.asarray(alpha, dtype=np.float64)
    if not ((rates >= 0) & (rates <= 1)).all():
        raise InputError(f"alpha must be numbers from 0 to 1, got {alpha!r}.")
    return rates
