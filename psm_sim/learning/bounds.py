"""What regret is proven to be, at most and at least (sections 2.2-2.4); all in nats.

L_T(alpha) is the cumulative mixture loss of Fixed-share over T rounds, alpha* its minimiser in hindsight
(:func:`~psm_sim.learning.best_rate`). *alpha* may be an array; the bound then has its shape.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.arrays import Floats
from psm_sim.errors import InputError
from psm_sim.learning import checks
from psm_sim.learning.rates import relative_entropy, switching_rates
from psm_sim.learning.transitions import stochastic


def upper_bound(rounds: int, best_alpha: float, alpha: ArrayLike) -> Floats:
    """Return (T - 1) D(alpha*||alpha), which L_T(alpha) - L_T(alpha*) never exceeds (Theorem 1)."""
    entropy = relative_entropy(_best(best_alpha), _rates(alpha))
    turns = _transitions(rounds)
    return turns * entropy if turns else np.zeros_like(entropy)


def transition_upper_bound(rounds: int, best: ArrayLike, other: ArrayLike) -> float:
    """Return (T - 1) max_j D(P(.|j) || Q(.|j)), Theorem 1 for any Markov dynamics.

    *best* and *other* are transition matrices P and Q, shape (n, n), row j the distribution after
    expert j, as for :class:`~psm_sim.learning.TransitionShare`; P is the best in hindsight.
    """
    p, q = stochastic(best), stochastic(other)
    if p.shape != q.shape:
        raise InputError(f"the transitions have shapes {p.shape} and {q.shape}; expected the same twice.")
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0).sum(axis=1)
    turns = _transitions(rounds)
    return turns * max(float(each.max()), 0.0) if turns else 0.0


def learn_alpha_bound(rounds: int, best_alpha: float, rates: ArrayLike) -> float:
    """Return log m + (T - 1) min_j D(alpha*||alpha_j): Learn-alpha's regret at most (Corollary 1)."""
    levels = checks.rates(rates)
    return math.log(levels.size) + float(upper_bound(rounds, best_alpha, levels).min())


def learn_alpha_optimal_bound(rounds: int) -> float:
    """Return log m + (T - 1) delta*, delta* = 1 / (2 T): Corollary 1 at its optimal rates.

    Learn-alpha with ``switching_rates(rounds)`` never has more regret, whatever alpha* is. It grows as
    1/2 log T plus a constant and depends on neither the losses nor the number of experts (section 2.3).
    """
    return math.log(switching_rates(rounds).size) + _transitions(rounds) / (2 * rounds)


def lower_bound(rounds: int, best_alpha: float, alpha: ArrayLike, beta: float) -> Floats:
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
    beta = checks.rate(beta, "beta*")
    turns = _transitions(rounds)
    if not 0 < best < 1 or not turns:
        return np.zeros_like(rates)
    switch, stay = _log_ratio(rates, best), _log_ratio(1 - rates, 1 - best)
    above = _regret(turns, best, 1 - beta, switch, stay)
    below = _regret(turns, 1 - best, 1 - beta, stay, switch)
    found: Floats = np.maximum(np.where(rates >= best, above, below), 0.0)
    return found


def _log_ratio(rates: Floats, best: float) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(rates) - math.log(best))


def _regret(turns: int, best: float, spread: float, end: Floats, other: Floats) -> Floats:
    """Return -log E_Q exp((T-1)[D(a||alpha*) - D(a||alpha)]) for the two-point Q of (2.31).

    Q has mean *best* and variance *spread* best (1 - best) / (T - 1): weight q1 on a = 1, the rest on
    (alpha* - q1) / (1 - q1) = alpha* (1 - spread / (T - 1)). With the roles of switching and staying
    exchanged it is (2.30). *end* and *other* are the log-ratios of probabilities at a = 1 and a = 0.
    """
    rest = turns * (1 - best) / best
    point = best * (1 - spread / turns)
    with np.errstate(divide="ignore"):
        at_end = np.log(spread / (spread + rest)) + turns * end
        inner = np.multiply(point, end, where=point > 0, out=np.zeros_like(end))
        at_point = math.log(rest / (spread + rest)) + turns * (inner + (1 - point) * other)
    found: Floats = -np.logaddexp(at_end, at_point)
    return found


def _transitions(rounds: int) -> int:
    return checks.whole(rounds, "the number of rounds") - 1


def _best(alpha: float) -> float:
    return checks.rate(alpha, "alpha*")


def _rates(alpha: ArrayLike) -> Floats:
    found = np.asarray(alpha, dtype=np.float64)
    if not ((found >= 0) & (found <= 1)).all():
        raise InputError(f"alpha is {alpha!r}; expected numbers from 0 to 1.")
    return found
