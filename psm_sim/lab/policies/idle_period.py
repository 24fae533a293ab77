"""Silence: the coming beacons as a linear learner sees them, many at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.lab.active import OnlineLearner
from psm_sim.lab.policies.features import LISTENED


class IdlePeriod:
    """Beacons of one silence.

    While no frame moves, one feature of a beacon depends on which beacons were heard before: the time since
    the last of them. All others are worked out for many beacons at once, and of each beacon a few sums are
    kept, from which its margin follows in a few multiplications.

    Parameters
    ----------
    first : int
        The number of the first beacon.
    rows : ndarray, shape (features, n)
        The features of the beacons, without that one
        (:meth:`~psm_sim.lab.policies.features.Features.silent`).
    learner : OnlineLearner
        What gives the margins; a second-order one has a matrix ``G``.
    """

    def __init__(self, first: int, rows: FloatArray, learner: OnlineLearner) -> None:
        self._first, self._rows, self._learner = first, rows, learner
        self._squares: list[float] = (rows * rows).sum(axis=0).tolist()
        self.recompute()

    @property
    def size(self) -> int:
        """The number of beacons."""
        return len(self._squares)

    def has(self, number: int, count: int) -> bool:
        """Say whether the beacon of a *number* and those after it, *count* in all, belong to it."""
        return self._first <= number and number + count <= self._first + self.size

    def recompute(self) -> None:
        """Work out the sums anew: the learner has moved."""
        weights, rows = self._learner.w, self._rows
        self._weight = float(weights[LISTENED])
        self._products: list[float] = (weights @ rows).tolist()
        matrix = getattr(self._learner, "G", None)
        self._is_quadratic = matrix is not None
        if matrix is not None:
            spread = matrix @ rows
            self._own = float(matrix[LISTENED, LISTENED])
            self._mixed: list[float] = (2 * spread[LISTENED]).tolist()
            self._others: list[float] = (rows * spread).sum(axis=0).tolist()

    def views(self, number: int, unheard: Sequence[float]) -> Iterator[tuple[float, float]]:
        """Yield margin and spread of the beacon of a *number* and of those after it.

        Parameters
        ----------
        number
            The number of the first of them.
        unheard
            The time since a beacon was heard, as a feature, of each of them.
        """
        here = slice(number - self._first, number - self._first + len(unheard))
        parts = zip(unheard, self._squares[here], self._products[here], strict=True)
        if self._is_quadratic:
            yield from self._second_order(parts, here)
            return
        weight = self._weight
        for own, square, product in parts:
            yield (product + weight * own) / sqrt(square + own * own), 0.0

    def instance(self, number: int, unheard: float) -> FloatArray:
        """Return the instance of a beacon, of length 1; *unheard* as for :meth:`views`."""
        found = self._rows[:, number - self._first].copy()
        found[LISTENED] = unheard
        return np.asarray(found / sqrt(self._squares[number - self._first] + unheard * unheard))

    def _second_order(
        self, parts: Iterator[tuple[float, float, float]], here: slice
    ) -> Iterator[tuple[float, float]]:
        weight, pull = self._weight, self._own
        for (own, square, product), other, mixed in zip(
            parts, self._others[here], self._mixed[here], strict=True
        ):
            length = square + own * own
            spread = (other + own * (mixed + own * pull)) / length
            yield (product + weight * own) / sqrt(length) / (1 + spread), spread
