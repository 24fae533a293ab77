"""Comparators of a learner in hindsight, and bounds of its regret (thesis, sections 2.2 and 2.3).

The comparators are the best expert, switching rate and switching sequence. L_T(alpha) is the cumulative
mixture loss of Fixed-share over T rounds, and alpha* its minimiser. Losses and bounds are in nats.

The bounds apply to the *mixture loss* (thesis, eq. 2.1): -log of the weighted mean of exp(-loss). The mixture
loss never exceeds the weighted mean of the experts' losses. In practice, a learner combines the experts'
predictions by :meth:`Learner.predict`. If the loss is a convex function of the prediction, the loss of the
combined prediction is also at most the weighted mean. Otherwise, no bound applies to the combined prediction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter
from psm_sim.learning.fixed_share_bank import FixedShareBank
from psm_sim.learning.learner import describe_loss_error
from psm_sim.learning.switching_rates import check_rates, relative_entropy, switching_rates

_STEP_ROUNDING = 1e-13
"""Rounding error of the number of switches, per round."""


class SwitchCounts(NamedTuple):
    """Posterior moments of the number k of switches in T rounds, at one alpha.

    The derivative of L_T is -excess / (alpha (1 - alpha)). At a minimum of L_T, the expected share of
    switches E[k] / (T - 1) is therefore alpha.

    Attributes
    ----------
    loss : float
        L_T(alpha), in nats.
    excess : float
        E[k] - alpha (T - 1).
    variance : float
        Variance of k.
    """

    loss: float
    excess: float
    variance: float

    def beta(self, alpha: float, transitions: int) -> float:
        """Return alpha (1 - alpha) / (T - 1) L''_T(alpha) at a minimum; *transitions* is T - 1 (eq. 2.20).

        The value lies in [0, 1). The largest possible rounding error is subtracted, so the value is 0 where
        the curve is flat.
        """
        spread = max(self.variance, 0.0) / (transitions * alpha * (1 - alpha))
        return max(1 - spread - _STEP_ROUNDING * (transitions + 10), 0.0)


def count_switches(table: FloatArray, alpha: float) -> SwitchCounts:
    """Return the first two posterior moments of the number of switches.

    The count is stored relative to its prior mean, so that no cancellation occurs in long runs. The pass
    takes O(T n) time and constant memory.

    Parameters
    ----------
    table : ndarray, shape (T, n)
        Losses in nats, n >= 2.
    alpha : float
        Switching rate between 1e-100 and 1 - 1e-9, where plain arithmetic is safe.
    """
    n = table.shape[1]
    min_losses = table.min(axis=1)
    likelihoods = np.exp(min_losses[:, None] - table)
    # Relative to the mean alpha, a switch counts 1 - alpha and a stay -alpha.
    switched = alpha / (n - 1) * _advance(1 - alpha)
    stayed = (1 - alpha) * _advance(-alpha) - switched
    moments = np.zeros((3, n))
    moments[0] = 1 / n
    loss, last = 0.0, len(table) - 1
    for t, likelihood in enumerate(likelihoods):
        moments *= likelihood
        mixture = np.add.reduce(moments[0]).item()
        moments /= mixture
        loss -= math.log(mixture)
        if t < last:
            moments = stayed @ moments + (switched @ np.add.reduce(moments, axis=1))[:, None]
    _, first, second = moments.sum(axis=1).tolist()
    return SwitchCounts(loss + math.fsum(min_losses.tolist()), first, second - first * first)


def _advance(step: float) -> FloatArray:
    """Return the matrix that maps the moments (1, E[k], E[k^2]) to the moments of k + *step*."""
    return np.array([[1.0, 0.0, 0.0], [step, 1.0, 0.0], [step * step, 2 * step, 1.0]])


_LOWEST, _HIGHEST = 1e-12, 1 - 1e-9
"""Range of switching rates in which plain arithmetic is safe."""
_ROUNDING = 1e-12
"""Relative tolerance of losses and switch counts."""
_MAX_STEPS = 100
"""Maximum number of Newton steps."""


class BestRate(NamedTuple):
    """Best switching rate in hindsight.

    Attributes
    ----------
    alpha : float
        The rate alpha*.
    loss : float
        L_T(alpha*), in nats.
    """

    alpha: float
    loss: float


def rate_losses(losses: ArrayLike, rates: ArrayLike) -> FloatArray:
    """Return L_T(alpha) for each of *rates*, shape (m,), in nats (the curve of Lemma 1).

    Parameters
    ----------
    losses : array_like, shape (T, n)
        Loss of each expert in each round, in nats.
    rates : array_like, shape (m,)
        Switching rates, 0 to 1. At rate 0, for example, L_T is ``inf`` if every expert has an infinite loss
        in some round.
    """
    table, alphas = check_loss_table(losses), check_rates(rates)
    bank = FixedShareBank(table.shape[1], alphas)
    total, min_losses = np.zeros(alphas.size), table.min(axis=1)
    for relative in min_losses[:, None] - table:
        total -= bank.evidence(relative)
        bank.share()
    total += min_losses.sum()
    return total


def best_rate(losses: ArrayLike) -> BestRate:
    """Return the switching rate in [0, 1] with the minimum loss in hindsight.

    L_T is computed at ``switching_rates(T)``, 0 and 1. At one of these rates, L_T is at most 1/2 nat above
    its minimum (Theorem 1). Newton's method, with bisection as a safeguard, starts at the lowest local minima
    of these values. If L_T does not depend on alpha, alpha* is 0.

    Parameters
    ----------
    losses : array_like, shape (T, n)
        Loss of each expert in each round, in nats.
    """
    table = check_loss_table(losses)
    rounds, n = table.shape
    if n == 1 or rounds == 1:
        return BestRate(0.0, rate_losses(table, [0.0]).item())
    grid = np.concatenate([[0.0], switching_rates(rounds), [1.0]])
    curve = rate_losses(table, grid)
    if curve.max() - curve.min() <= _ROUNDING * (1 + curve.min()):
        return BestRate(0.0, curve[0].item())
    minima = [_newton_with_bisection(table, grid, curve, start) for start in _local_minima(curve)]
    return min(minima, key=lambda minimum: minimum.loss)


def _local_minima(curve: FloatArray) -> list[int]:
    """Return the indices of at most three local minima, the lowest first."""
    padded = np.concatenate([[np.inf], curve, [np.inf]])
    # The grid is within 1/2 nat of the minimum (Theorem 1), so higher local minima can be skipped.
    is_minimum = (curve <= padded[:-2]) & (curve <= padded[2:]) & (curve <= curve.min() + 0.5 + 1e-9)
    indices = np.flatnonzero(is_minimum)
    return [int(index) for index in indices[np.argsort(curve[indices], kind="stable")][:3]]


def _newton_with_bisection(table: FloatArray, grid: FloatArray, curve: FloatArray, start: int) -> BestRate:
    """Return the minimum of L_T near ``grid[start]``, a root of :attr:`SwitchCounts.excess`.

    *table*, shape (T, n), has the losses. *curve*, shape (m,), has the values of L_T at the rates *grid*.
    """
    transitions = len(table) - 1
    low, high = grid[max(start - 1, 0)], grid[min(start + 1, grid.size - 1)]
    alpha = min(max(grid[start].item(), _LOWEST), _HIGHEST)
    for _ in range(_MAX_STEPS):
        counts = count_switches(table, alpha)
        tolerance = _ROUNDING * transitions * min(alpha, 1 - alpha)
        # If L_T still falls at the end of the safe range, the minimum is at 0 or at 1.
        falls_to_0 = alpha == _LOWEST and counts.excess <= tolerance
        if falls_to_0 or (alpha == _HIGHEST and counts.excess >= -tolerance):
            return BestRate(grid[start].item(), curve[start].item())
        low, high = (alpha, high) if counts.excess > 0 else (low, alpha)
        beta = counts.beta(alpha, transitions)
        newton = alpha + counts.excess / (transitions * beta) if beta > 0 else low
        # Use Newton's step, or bisection if it leaves the interval or the curve is flat.
        proposed = newton if low < newton < high else (low + high) / 2
        if abs(counts.excess) <= tolerance or proposed in (low, high):
            break
        alpha = float(proposed)
    return BestRate(alpha, counts.loss)


def best_switching(losses: ArrayLike, switches: int) -> FloatArray:
    """Return the losses of the best sequences of experts with at most 0, 1, ..., *switches* switches.

    Dynamic programming over V_t(k, i), the minimum loss of t rounds that end with expert i after at most k
    switches: V_t(k, i) = L(i, t) + min(V_{t-1}(k, i), min_j V_{t-1}(k-1, j)). The computation takes O(T K n)
    time.

    Parameters
    ----------
    losses : array_like, shape (T, n)
        Loss of each expert in each round, in nats.
    switches : int
        Maximum number of switches K, at least 0. More than T - 1 switches have no effect.

    Returns
    -------
    ndarray, shape (K + 1,)
        Cumulative losses in nats, which never increase with the number of switches.
    """
    table = check_loss_table(losses)
    max_switches = Parameter("the number of switches", 0, at_least=0).check(switches, "best_switching")
    value: FloatArray = np.tile(table[0], (max_switches + 1, 1))
    for row in table[1:]:
        np.minimum(value[1:], value.min(axis=1)[:-1, None], out=value[1:])
        value += row
    totals: FloatArray = value.min(axis=1)
    return totals


def best_expert(losses: ArrayLike) -> int:
    """Return the index of the expert with the minimum total loss.

    Raises
    ------
    InputError
        If *losses* is not a table of valid losses.
    """
    return int(check_loss_table(losses).sum(axis=0).argmin())


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
    transitions = Parameter("the number of rounds", 1, at_least=1).check(rounds, "upper_bound") - 1
    best = Parameter("alpha*", 0.0, at_least=0, at_most=1).check(best_alpha, "upper_bound")
    rates = np.asarray(alpha, dtype=np.float64)
    if not ((rates >= 0) & (rates <= 1)).all():
        raise InputError(f"upper_bound: alpha must be numbers from 0 to 1, got {alpha!r}.")
    entropy = relative_entropy(best, rates)
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
    checked_rates = check_rates(rates)
    return math.log(checked_rates.size) + float(upper_bound(rounds, best_alpha, checked_rates).min())


def check_loss_table(losses: ArrayLike) -> FloatArray:
    """Return the losses of all rounds, shape (T, n) in nats.

    Each loss must be at least 0, and no round may consist of infinite losses only.
    """
    try:
        table = np.asarray(losses, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the losses must be a table of numbers, rounds by experts.") from None
    if table.ndim != 2 or not table.size:
        raise InputError(f"the losses must have shape (rounds, experts), both >= 1, got {table.shape}.")
    min_losses = table.min(axis=1)
    # The negation also finds rows with NaN, for which every comparison is false.
    invalid_rounds = np.flatnonzero(~((min_losses >= 0) & (min_losses < np.inf)))
    if invalid_rounds.size:
        raise describe_loss_error(table[invalid_rounds[0]], f"round {invalid_rounds[0] + 1}")
    return table
