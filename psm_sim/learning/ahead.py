"""Ahead: the predictions of a learner for rounds to come, if all of them have the same losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from psm_sim.arrays import Floats
from psm_sim.learning.modes import Modes, power

_CLEAR = 1e-9


class Ahead:
    """Coming rounds of one learner, of which each has the losses that the modes were made for.

    Nothing is learnt by looking ahead: :meth:`~psm_sim.learning.Learner.leap` goes there.

    Parameters
    ----------
    modes : Modes
        The modes of the learner's m switching rates for these losses.
    weights : ndarray, shape (n, m)
        The present distribution over the experts at each rate.
    rate_weights : ndarray, shape (m,)
        The present distribution over the rates.
    """

    def __init__(self, modes: Modes, weights: Floats, rate_weights: Floats) -> None:
        self._modes, self._rate_weights = modes, rate_weights.copy()
        self._coordinates = modes.coordinates(weights)
        self._terms: Floats = np.empty(0)

    def predictions(self, values: Floats) -> Iterator[Floats]:
        """Yield the weighted means of *values*, shape (n,), after rounds 1, 2, 3, .., block by block.

        Each sum is a product of its own with a vector: one with both as columns takes over twice the time.
        """
        powers, between = self._modes.powers
        # What each mode adds to the weighted sum of the values, and to the sum of the weights.
        self._terms = self._modes.readings(values) * (self._coordinates * self._rate_weights).ravel()
        while True:
            weighted, weights = [between @ (powers @ terms) for terms in self._terms]
            self._terms *= powers[-1] / weights[-1]
            yield weighted / weights

    def stays_above(self, bound: float) -> bool:
        """Say whether no prediction after the last block can be below *bound*; true is certain, false not."""
        return self._stays_positive(self._terms[0] - bound * self._terms[1])

    def stays_below(self, bound: float) -> bool:
        """Say whether no prediction after the last block can be above *bound*; true is certain, false not."""
        return self._stays_positive(bound * self._terms[1] - self._terms[0])

    def _stays_positive(self, margins: Floats) -> bool:
        """Say whether the sum of *margins*, (n * m,), times the powers of their eigenvalues stays above 0.

        The smaller eigenvalues of each rate are taken at their worst: all against it, and never fading
        beside the largest. Of the largest, from the top, what speaks for it is taken only as far as nothing
        has spoken against it: what is against it then fades faster than what is for it, and the sum, once
        positive, stays so.
        """
        table = margins.reshape(self._modes.ratios.shape)
        worst = (table[-1] - np.abs(table[:-1]).sum(axis=0))[np.argsort(-self._modes.logs)]
        counted = np.where(np.logical_or.accumulate(worst < 0), np.minimum(worst, 0.0), worst)
        return bool(counted.sum() > _CLEAR * np.abs(self._terms[0]).sum())

    def after(self, rounds: int) -> tuple[Floats, Floats]:
        """Return each rate's log evidence in so many *rounds*, shape (m,), and its weights then, (n, m)."""
        weights = self._modes.weights(self._coordinates * power(self._modes.ratios, rounds))
        totals = weights.sum(axis=0)
        return np.log(totals) + rounds * self._modes.logs, weights / totals
