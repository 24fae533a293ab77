"""Features of the beacons of one idle period, evaluated in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.lab.active import OnlineLearner
from psm_sim.lab.policies.beacon_features import LISTENED


class IdlePeriod:
    """Beacons of one idle period.

    While no frame is transmitted, only one feature of a beacon depends on which beacons were received before,
    the time since the last one. All other features are computed for many beacons at once. A few sums per
    beacon are stored, from which its margin follows with a few multiplications.

    Parameters
    ----------
    first : int
        Number of the first beacon.
    rows : ndarray, shape (features, n)
        Features of the beacons, except the time since the last received one; see
        :meth:`~psm_sim.lab.policies.beacon_features.Features.idle`.
    learner : OnlineLearner
        Learner of the margins; a second-order learner has a matrix ``G``.
    """

    def __init__(self, first: int, rows: FloatArray, learner: OnlineLearner) -> None:
        self._first, self._rows, self._learner = first, rows, learner
        self._squares: list[float] = (rows * rows).sum(axis=0).tolist()
        self.recompute()

    @property
    def size(self) -> int:
        """Number of beacons."""
        return len(self._squares)

    def has(self, number: int, count: int) -> bool:
        """Return whether the *count* beacons from *number* on are part of the idle period."""
        return self._first <= number and number + count <= self._first + self.size

    def recompute(self) -> None:
        """Recompute the sums after a change of the learner."""
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
        """Yield margin and spread of consecutive beacons.

        Parameters
        ----------
        number : int
            Number of the first of them.
        unheard : sequence of float
            Feature "time since the last received beacon" of each of them.
        """
        selection = slice(number - self._first, number - self._first + len(unheard))
        parts = zip(unheard, self._squares[selection], self._products[selection], strict=True)
        if self._is_quadratic:
            yield from self._second_order(parts, selection)
            return
        weight = self._weight
        for own, square, product in parts:
            yield (product + weight * own) / sqrt(square + own * own), 0.0

    def instance(self, number: int, unheard: float) -> FloatArray:
        """Return the instance of the beacon *number*, of norm 1; see :meth:`views` for *unheard*."""
        features = self._rows[:, number - self._first].copy()
        features[LISTENED] = unheard
        return np.asarray(features / sqrt(self._squares[number - self._first] + unheard * unheard))

    def _second_order(
        self, parts: Iterator[tuple[float, float, float]], selection: slice
    ) -> Iterator[tuple[float, float]]:
        weight, diagonal = self._weight, self._own
        for (own, square, product), other, mixed in zip(
            parts, self._others[selection], self._mixed[selection], strict=True
        ):
            length = square + own * own
            spread = (other + own * (mixed + own * diagonal)) / length
            yield (product + weight * own) / sqrt(length) / (1 + spread), spread
