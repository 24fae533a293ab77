"""Record of a selective run: what was predicted, bought and learnt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray


@dataclass(frozen=True, eq=False)
class Record:
    """Record of a run: one entry per round in each array of shape (n,).

    Attributes
    ----------
    prediction : ndarray of int
        -1 or +1, made before the label was known.
    probability : ndarray of float
        Of buying the label.
    queried, updated : ndarray of bool
        Whether the label was bought, and whether the learner moved.
    """

    prediction: NDArray[np.int64]
    probability: FloatArray
    queried: NDArray[np.bool_]
    updated: NDArray[np.bool_]

    @classmethod
    def of(cls, margins: list[float], chances: list[float], bought: list[int], moved: list[int]) -> Record:
        """Make a record.

        Parameters
        ----------
        margins, chances : list of float
            Margin and query probability of each round.
        bought, moved : list of int
            The rounds, from 0, whose label was bought, and those that moved the learner.
        """
        count = len(margins)
        queried, updated = np.zeros(count, bool), np.zeros(count, bool)
        queried[bought], updated[moved] = True, True
        return cls(np.where(np.array(margins) >= 0, 1, -1), np.array(chances), queried, updated)
