"""Regret bounds: what regret is proven to be, at most and at least, in nats (thesis, sections 2.2-2.4).

L_T(alpha) is the cumulative mixture loss of Fixed-share over T rounds, alpha* its minimiser in hindsight
(:func:`~psm_sim.learning.best_rate`). *alpha* can be an array; the bound then has its shape.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.learning import input_checks
from psm_sim.learning.switching_rates import relative_entropy, switching_rates
from psm_sim.learning.transitions import check_stochastic


def upper_bound(rounds: int, best_alpha: float, alpha: ArrayLike) -> FloatArray:
    """Return (T - 1) D(alpha*||alpha), which L_T(alpha) - L_T(alpha*) never exceeds (Theorem 1).

    Parameters
    ----------
    rounds : int
        T, at least 1.
    best_alpha : float
        alpha*, 0 to 1.
    alpha : array_like
        The switching rates whose regret is bounded, 0 to 1; the bound has their shape.
    """
    entropy = relative_entropy(_best(best_alpha), _rates(alpha))
    transitions = _transitions(rounds)
    return transitions * entropy if transitions else np.zeros_like(entropy)


def transition_upper_bound(rounds: int, best: ArrayLike, other: ArrayLike) -> float:
    """Return (T - 1) max_j D(P(.|j) || Q(.|j)), Theorem 1 for any Markov dynamics.

    Parameters
    ----------
    rounds : int
        T, at least 1.
    best : array_like, shape (n, n)
        P, the transition matrix that is best in hindsight; row j is the distribution after expert j, as
        for :class:`~psm_sim.learning.TransitionShare`.
    other : array_like, shape (n, n)
        Q, the transition matrix whose regret is bounded.
    """
    p, q = check_stochastic(best), check_stochastic(other)
    if p.shape != q.shape:
        raise InputError(f"the transitions have shapes {p.shape} and {q.shape}; expected the same twice.")
    # The logarithm of 0 is dropped where P is 0; where only Q is 0 the bound is rightly inf.
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0).sum(axis=1)
    transitions = _transitions(rounds)
    return transitions * max(float(each.max()), 0.0) if transitions else 0.0


def learn_alpha_bound(rounds: int, best_alpha: float, rates: ArrayLike) -> float:
    """Return log m + (T - 1) min_j D(alpha*||alpha_j): Learn-alpha's regret at most (Corollary 1).

    Parameters
    ----------
    rounds : int
        T, at least 1.
    best_alpha : float
        alpha*, 0 to 1.
    rates : array_like, shape (m,)
        The switching rates alpha_j of the learner, 0 to 1.
    """
    levels = input_checks.check_rates(rates)
    return math.log(levels.size) + float(upper_bound(rounds, best_alpha, levels).min())


def learn_alpha_optimal_bound(rounds: int) -> float:
    """Return log m + (T - 1) delta*, delta* = 1 / (2 T): Corollary 1 at its optimal rates.

    Learn-alpha with ``switching_rates(rounds)`` never has more regret, for any alpha*. The bound grows as
    1/2 log T plus a constant and depends on neither the losses nor the number of experts (section 2.3).
    """
    return math.log(switching_rates(rounds).size) + _transitions(rounds) / (2 * rounds)


def lower_bound(rounds: int, best_alpha: float, alpha: ArrayLike, beta: float) -> FloatArray:
    """Return the least L_T(alpha) - L_T(alpha*) can be (Theorem 2, 2.16).

    Parameters
    ----------
    rounds : int
        T, at least 1.
    best_alpha : float
        alpha*. At 0 or 1 the theorem says nothing and the bound is 0.
    alpha : array_like
        The switching rates whose regret is bounded.
    beta : float
        beta* (2.15), the relative quality of the minimum, 0 to 1; at 1 both bounds agree. A smaller
        value than the true one leaves the bound true, only weaker.
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
    # alpha* is the minimum, so 0 is a lower bound too; rounding can take the theorem's just below it.
    found: FloatArray = np.maximum(np.where(rates >= best, above, below), 0.0)
    return found


def _log_ratio(rates: FloatArray, best: float) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(rates) - math.log(best))


def _two_point_regret(
    transitions: int, mean: float, spread: float, ratio_at_one: FloatArray, ratio_at_zero: FloatArray
) -> FloatArray:
    """Return -log E_Q exp((T-1)[D(a||alpha*) - D(a||alpha)]) for the two-point Q of (2.31).

    Q has mean alpha* (*mean*) and variance *spread* alpha* (1 - alpha*) / (T - 1): weight q1 on a = 1, the
    rest on the inner point (alpha* - q1) / (1 - q1) = alpha* (1 - spread / (T - 1)). The ratios are
    the logarithms of alpha / alpha* and (1 - alpha) / (1 - alpha*), the exponents at a = 1 and a = 0.
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
    found: FloatArray = -np.logaddexp(at_one, at_inner)
    return found


def _transitions(rounds: int) -> int:
    return input_checks.check_int(rounds, "the number of rounds") - 1


def _best(alpha: float) -> float:
    return input_checks.check_probability(alpha, "alpha*")


def _rates(alpha: ArrayLike) -> FloatArray:
    found = np.asarray(alpha, dtype=np.float64)
    if not ((found >= 0) & (found <= 1)).all():
        raise InputError(f"alpha is {alpha!r}; expected numbers from 0 to 1.")
    return found
