"""Stratified draws: a small number of draws that still has nearly the distribution's mean.

The probabilities are cut into n equal strata and one number is drawn within each, so that 100 think
times never happen to be all short. The order is then shuffled: the draws show no trend.

The last stratum of a heavy tail is wide: among 284 replies the largest can be anything from 0.4 to 1.6 MB
and alone move the mean by 30 %. Where a stratum's width is over ``wander`` times the sum of all draws,
its draw is pulled towards the stratum's own mean until its range has just that width. The mean stays exact
in expectation; the most extreme values are given up, which a short run would show only by chance. Longer
runs have narrower strata and reach further into the tail; ``wander=None`` pulls nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray
from psm_sim.workload.distribution_families import Distribution


def stratified_draws(
    table: Distribution, n: int, random: np.random.Generator, upto: float = 1.0, wander: float | None = 0.01
) -> FloatArray:
    """Draw *n* numbers, one per stratum, in random order.

    Parameters
    ----------
    table : the distribution.
    n : the number of draws, 0 or more.
    random : the stream to draw from.
    upto : draw only from the lowest part of the distribution, up to this cumulative probability.
    wander : how far one draw can move the sum of all, as a fraction of it; None for no limit.
    """
    if n == 0:
        return np.empty(0)
    edges = np.linspace(0.0, upto, n + 1)
    drawn = table.at(edges[:-1] + random.random(n) * (upto / n))
    if wander is None:
        return random.permutation(drawn)
    # The mean of each stratum, exact by the integral: pulling towards it leaves the expectation unchanged.
    middle = np.diff(table.integral(edges)) * (n / upto)
    width, allowed = np.diff(table.at(edges)), wander * middle.sum()
    pull = np.divide(allowed, width, out=np.ones(n), where=width > allowed)
    # Draws that are not pulled are kept to the last bit: middle + (drawn - middle) would round.
    return random.permutation(np.where(pull < 1, middle + pull * (drawn - middle), drawn))


def stratified_integers(values: FloatArray, random: np.random.Generator) -> NDArray[np.int64]:
    """Round to whole numbers and keep the expectation: 2.3 becomes 3 in 3 cases of 10, else 2."""
    return np.floor(values + random.random(values.size)).astype(np.int64)
