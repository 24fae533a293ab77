"""Predictions for future rounds that all have the same losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.learning.fixed_share_eigenmodes import Eigenmodes

_MIN_MARGIN = 1e-9
"""Relative margin above which a sum counts as positive."""
_ALL_RATES = slice(None)


class Lookahead:
    """Lookahead on future rounds of one learner that all have the same losses.

    A lookahead does not change the learner. :meth:`~psm_sim.learning.Learner.fast_forward` learns the rounds.

    Parameters
    ----------
    modes : Eigenmodes
        Eigenmodes of the learner's m switching rates for these losses.
    weights : ndarray, shape (n, m)
        Current weights of the experts at each rate.
    rate_weights : ndarray, shape (m,)
        Distribution over the rates. The current one is multiplied by the sums of the columns.
    """

    def __init__(self, modes: Eigenmodes, weights: FloatArray, rate_weights: FloatArray) -> None:
        self._modes, self._coordinates = modes, modes.coordinates(weights)
        self._rate_weights, self._evidence = rate_weights.copy(), rate_weights * modes.ones.dot(weights)
        self._terms_of_values: FloatArray
        self._terms_after_block: FloatArray | None = None

    def predictions(self, values: FloatArray) -> Iterator[FloatArray]:
        """Yield the weighted means of *values*, shape (n,), after rounds 1, 2, 3, ... in blocks.

        Each block computes only the rates that can affect it. Most idle periods end within the first block.
        """
        self._terms_of_values, self._terms_after_block = self._modes.value_terms(values), None
        rates = self._modes.visible_rates(self._evidence)
        weighted, weights = self._modes.sums(self._terms(self._coordinates[:, rates], rates), rates)
        yield weighted / weights
        terms = self._after_block()
        while True:
            rates = self._modes.visible_rates(terms[1].dot(self._modes.ones))
            weighted, weights = self._modes.sums(terms[:, rates], rates)
            terms *= self._modes.block_decay / weights[-1]
            yield weighted / weights

    def _terms(self, coordinates: FloatArray, rates: slice) -> FloatArray:
        """Return the terms of the modes of *rates* in the weighted sums of the values and of ones.

        Parameters
        ----------
        coordinates : ndarray, shape (n, k)
            Weights in the modes.
        rates : slice
            The k rates.

        Returns
        -------
        ndarray, shape (2, k, n)
            Terms of both sums.
        """
        terms: FloatArray = self._terms_of_values[:, rates] * (coordinates * self._rate_weights[rates]).T
        return terms

    def _after_block(self) -> FloatArray:
        """Return the terms of all rates after the last yielded block, up to a common factor near 1."""
        if self._terms_after_block is None:
            self._terms_after_block = self._terms(self._coordinates, _ALL_RATES) * self._modes.block_decay
            self._terms_after_block /= self._terms_after_block[1].sum()
        return self._terms_after_block

    def stays_above(self, bound: float) -> bool:
        """Return whether no prediction after the last block can be below *bound*.

        True is certain. False means that the test is inconclusive.
        """
        weighted, weights = self._after_block()
        return self._stays_positive(weighted - bound * weights)

    def stays_below(self, bound: float) -> bool:
        """Return whether no prediction after the last block can be above *bound*.

        True is certain. False means that the test is inconclusive.
        """
        weighted, weights = self._after_block()
        return self._stays_positive(bound * weights - weighted)

    def _stays_positive(self, margins: FloatArray) -> bool:
        """Return whether the sum of *margins* times powers of the eigenvalues stays positive.

        The test is conservative. At each rate, all eigenvalues but the largest count with the negative of
        their absolute value and do not decay relative to the largest. The largest eigenvalues of the rates
        are then taken in descending order. Positive terms count only until the first negative one. The
        negative terms therefore decay faster than the positive terms, and a positive sum stays positive.

        Parameters
        ----------
        margins : ndarray, shape (m, n)
            Terms of each mode.
        """
        table = margins.T
        worst = (table[-1] - np.abs(table[:-1]).sum(axis=0))[np.argsort(-self._modes.logs)]
        counted = np.where(np.logical_or.accumulate(worst < 0), np.minimum(worst, 0.0), worst)
        return bool(counted.sum() > _MIN_MARGIN * np.abs(self._after_block()[0]).sum())

    def after(self, rounds: int) -> tuple[FloatArray, FloatArray]:
        """Return the state after *rounds* rounds.

        Returns
        -------
        log_evidence : ndarray, shape (m,)
            Log evidence of each rate, without the factor in the sums of the weights.
        weights : ndarray, shape (n, m)
            Unnormalised weights of the experts at each rate.
        """
        weights = self._modes.weights(self._coordinates * self._modes.decay(rounds))
        return rounds * self._modes.logs, weights
