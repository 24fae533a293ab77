"""Record of a selective run: predictions, queries and updates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.array_types import FloatArray


@dataclass(frozen=True, eq=False)
class Record:
    """Record of a run, with one entry per round in each array of shape (n,).

    Attributes
    ----------
    prediction : ndarray of int
        Prediction before the label was known, -1 or +1.
    probability : ndarray of float
        Query probability.
    queried, updated : ndarray of bool
        Whether the label was queried, and whether the learner changed.
    """

    prediction: NDArray[np.int64]
    probability: FloatArray
    queried: NDArray[np.bool_]
    updated: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        margins: list[float],
        probabilities: list[float],
        queried_rounds: list[int],
        updated_rounds: list[int],
    ) -> Record:
        """Create a record.

        Parameters
        ----------
        margins, probabilities : list of float
            Margin and query probability of each round.
        queried_rounds, updated_rounds : list of int
            Rounds, from 0, whose label was queried, and rounds that changed the learner.
        """
        count = len(margins)
        queried, updated = np.zeros(count, bool), np.zeros(count, bool)
        queried[queried_rounds], updated[updated_rounds] = True, True
        return cls(np.where(np.array(margins) >= 0, 1, -1), np.array(probabilities), queried, updated)
