"""Rate curve: the loss of Fixed-share as a function of its switching rate, and the best rate in hindsight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.learning import input_checks
from psm_sim.learning.fixed_share_bank import FixedShareBank
from psm_sim.learning.switch_counts import count_switches
from psm_sim.learning.switching_rates import switching_rates

_LOWEST, _HIGHEST = 1e-12, 1 - 1e-9
_ROUNDING = 1e-12
_STEPS = 100


class BestRate(NamedTuple):
    """Best switching rate in hindsight: alpha*, L_T(alpha*) in nats, and beta* (2.15).

    ``beta`` is the relative quality of the minimum, 0 to 1, rounded down by more than its own rounding
    error so that Theorem 2 stays true; it is 0 where alpha* is 0 or 1.
    """

    alpha: float
    loss: float
    beta: float


def rate_losses(losses: ArrayLike, rates: ArrayLike) -> FloatArray:
    """Return L_T(alpha), in nats, for each of *rates*, shape (m,): the curve of Lemma 1.

    Parameters
    ----------
    losses : array_like, shape (T, n)
        The loss of each expert in each round, in nats.
    rates : array_like, shape (m,)
        Switching rates, 0 to 1. ``inf`` is the loss of a rate that excludes every finite sequence.
    """
    table, alphas = input_checks.check_loss_table(losses), input_checks.check_rates(rates)
    levels = FixedShareBank(table.shape[1], alphas)
    total, least = np.zeros(alphas.size), table.min(axis=1)
    for relative in least[:, None] - table:
        total -= levels.evidence(relative)
        levels.share()
    total += least.sum()
    return total


def best_rate(losses: ArrayLike) -> BestRate:
    """Return the hindsight-best switching rate alpha* over all of [0, 1], for losses of shape (T, n).

    The curve at ``switching_rates(T)``, 0 and 1 is nowhere more than 1/2 nat above its minimum (Theorem 1);
    from its lowest valleys Newton's method, safeguarded by bisection, goes down to where the expected
    share of switches equals alpha. Where L_T does not depend on alpha, alpha* is 0.
    """
    table = input_checks.check_loss_table(losses)
    rounds, n = table.shape
    if n == 1 or rounds == 1:
        return BestRate(0.0, rate_losses(table, [0.0]).item(), 0.0)
    grid = np.concatenate([[0.0], switching_rates(rounds), [1.0]])
    curve = rate_losses(table, grid)
    if curve.max() - curve.min() <= _ROUNDING * (1 + curve.min()):
        return BestRate(0.0, curve[0].item(), 0.0)
    found = [_newton_with_bisection(table, grid, curve, valley) for valley in _valleys(curve)]
    return min(found, key=lambda one: one.loss)


def _valleys(curve: FloatArray) -> list[int]:
    """Return the lowest three local minima that lie within 1/2 nat of the least, the lowest first."""
    walled = np.concatenate([[np.inf], curve, [np.inf]])
    # The grid is within 1/2 nat of the minimum (Theorem 1): no valley that lies higher can hold it.
    low = (curve <= walled[:-2]) & (curve <= walled[2:]) & (curve <= curve.min() + 0.5 + 1e-9)
    places = np.flatnonzero(low)
    return [int(place) for place in places[np.argsort(curve[places], kind="stable")][:3]]


def _newton_with_bisection(table: FloatArray, grid: FloatArray, curve: FloatArray, valley: int) -> BestRate:
    """Return the minimum in one valley: the root of the excess of switches, whose sign is that of -L'_T."""
    transitions = len(table) - 1
    low, high = grid[max(valley - 1, 0)], grid[min(valley + 1, grid.size - 1)]
    alpha = min(max(grid[valley].item(), _LOWEST), _HIGHEST)
    for _ in range(_STEPS):
        counts = count_switches(table, alpha)
        tolerance = _ROUNDING * transitions * min(alpha, 1 - alpha)
        # At the end of the safe range L_T still falls outwards: the minimum is at 0 or at 1 itself.
        falls_to_0 = alpha == _LOWEST and counts.excess <= tolerance
        if falls_to_0 or (alpha == _HIGHEST and counts.excess >= -tolerance):
            return BestRate(grid[valley].item(), curve[valley].item(), 0.0)
        low, high = (alpha, high) if counts.excess > 0 else (low, alpha)
        beta = counts.beta(alpha, transitions)
        newton = alpha + counts.excess / (transitions * beta) if beta > 0 else low
        # Newton's step, unless it leaves the interval (or the curve is flat): then bisection.
        proposed = newton if low < newton < high else (low + high) / 2
        if abs(counts.excess) <= tolerance or proposed in (low, high):
            break
        alpha = float(proposed)
    return BestRate(alpha, counts.loss, beta)
