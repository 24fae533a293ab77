"""Ahead: the predictions of a learner for rounds to come, if all of them have the same losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.learning.eigenmodes import Eigenmodes

_CLEAR = 1e-9
_ALL = slice(None)


class Lookahead:
    """Coming rounds of one learner, of which each has the losses that the modes were made for.

    Nothing is learnt by looking ahead: :meth:`~psm_sim.learning.Learner.fast_forward` goes there.

    Parameters
    ----------
    modes : Modes
        The modes of the learner's m switching rates for these losses.
    weights : ndarray, shape (n, m)
        The present weights of the experts at each rate.
    rate_weights : ndarray, shape (m,)
        The distribution over the rates, of which the present one has the columns' sums as a factor.
    """

    def __init__(self, modes: Eigenmodes, weights: FloatArray, rate_weights: FloatArray) -> None:
        self._modes, self._coordinates = modes, modes.coordinates(weights)
        self._rate_weights, self._evidence = rate_weights.copy(), rate_weights * modes.ones.dot(weights)
        self._readings: FloatArray
        self._far: FloatArray | None = None

    def predictions(self, values: FloatArray) -> Iterator[FloatArray]:
        """Yield the weighted means of *values*, shape (n,), after rounds 1, 2, 3, .., block by block.

        For each block the rates that can be seen in it are enough; most silences are over after the first.
        """
        self._readings, self._far = self._modes.readings(values), None
        rates = self._modes.near(self._evidence)
        weighted, weights = self._modes.sums(self._terms(self._coordinates[:, rates], rates), rates)
        yield weighted / weights
        terms = self._after_block()
        while True:
            rates = self._modes.near(terms[1].dot(self._modes.ones))
            weighted, weights = self._modes.sums(terms[:, rates], rates)
            terms *= self._modes.block_decay / weights[-1]
            yield weighted / weights

    def _terms(self, coordinates: FloatArray, rates: slice) -> FloatArray:
        """Return what each mode of *rates* adds to the weighted sum of the values, and to that of ones.

        Shape (2, k, n), of *coordinates*, (n, k).
        """
        found: FloatArray = self._readings[:, rates] * (coordinates * self._rate_weights[rates]).T
        return found

    def _after_block(self) -> FloatArray:
        """Return these terms, of all rates, after the last block yielded: a multiple of them, near 1."""
        if self._far is None:
            self._far = self._terms(self._coordinates, _ALL) * self._modes.block_decay
            self._far /= self._far[1].sum()
        return self._far

    def stays_above(self, bound: float) -> bool:
        """Say whether no prediction after the last block can be below *bound*; true is certain, false not."""
        weighted, weights = self._after_block()
        return self._stays_positive(weighted - bound * weights)

    def stays_below(self, bound: float) -> bool:
        """Say whether no prediction after the last block can be above *bound*; true is certain, false not."""
        weighted, weights = self._after_block()
        return self._stays_positive(bound * weights - weighted)

    def _stays_positive(self, margins: FloatArray) -> bool:
        """Say whether the sum of *margins*, (m, n), times the powers of their eigenvalues stays above 0.

        The smaller eigenvalues of each rate are taken at their worst: all against it, and never fading
        beside the largest. Of the largest, from the top, what speaks for it is taken only as far as nothing
        has spoken against it: what is against it then fades faster than what is for it, and the sum, once
        positive, stays so.
        """
        table = margins.T
        worst = (table[-1] - np.abs(table[:-1]).sum(axis=0))[np.argsort(-self._modes.logs)]
        counted = np.where(np.logical_or.accumulate(worst < 0), np.minimum(worst, 0.0), worst)
        return bool(counted.sum() > _CLEAR * np.abs(self._after_block()[0]).sum())

    def after(self, rounds: int) -> tuple[FloatArray, FloatArray]:
        """Return log evidence, (m,), and weights, (n, m), their sums more of it, after so many *rounds*."""
        weights = self._modes.weights(self._coordinates * self._modes.left(rounds))
        return rounds * self._modes.logs, weights
