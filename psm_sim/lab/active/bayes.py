"""Naive Bayes from counts: two classes, nominal features coded 0, 1, ... ([003] 2.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import BoolArray, FloatArray, IntArray
from psm_sim.errors import InputError
from psm_sim.lab.active import input_checks

_OWNER = "naive Bayes"


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes model P(y) prod_f P(x_f | y) of labels -1 and 1.

    Attributes
    ----------
    prior : ndarray, shape (2,)
        P(-1) and P(1).
    tables : tuple of ndarray, each of shape (2, r_f)
        P(v | -1) and P(v | 1) for the values v of each feature.
    """

    prior: FloatArray
    tables: tuple[FloatArray, ...]

    @classmethod
    def fit(cls, x: ArrayLike, y: ArrayLike, values: Sequence[int] | None = None) -> NaiveBayes:
        """Count with one added to every cell, and to both classes (the text does not say how to smooth).

        Parameters
        ----------
        x : array_like, shape (n, d)
            The features as codes 0, 1, ...
        y : array_like, shape (n,)
            The labels, -1 or 1.
        values : sequence of int, length d, optional
            The number r_f of values of each feature; the highest code plus 1 if left out.
        """
        codes = input_checks.check_codes(x, None, _OWNER)
        positive = input_checks.check_labels(y, len(codes), _OWNER) > 0
        sizes = number_of_values(codes, values)
        classes = np.array([(~positive).sum(), positive.sum()]) + 1.0
        tables = tuple(_table(column, positive, r) for column, r in zip(codes.T, sizes, strict=True))
        return cls(classes / classes.sum(), tables)

    @property
    def features(self) -> int:
        """The number d of features."""
        return len(self.tables)

    def padded(self) -> tuple[FloatArray, FloatArray]:
        """Return P(v | 1) and P(v | -1), each of shape (d, largest r_f), 0 beyond a feature's values."""
        width = max(table.shape[1] for table in self.tables)
        both = np.zeros((2, self.features, width))
        for feature, table in enumerate(self.tables):
            both[:, feature, : table.shape[1]] = table
        return both[1], both[0]

    def decision_function(self, x: ArrayLike) -> FloatArray:
        """Return ln P(1, x) - ln P(-1, x) of instances, shape (n, d)."""
        codes = self.checked(x)
        odds = np.full(len(codes), float(np.log(self.prior[1] / self.prior[0])))
        for column, table in zip(codes.T, self.tables, strict=True):
            odds += np.log(table[1] / table[0])[column]
        return odds

    def predict(self, x: ArrayLike) -> IntArray:
        """Return 1 or -1 for instances of shape (n, d); 1 where both are as probable."""
        return np.where(self.decision_function(x) >= 0, 1, -1)

    def checked(self, x: ArrayLike) -> IntArray:
        """Return instances as codes, shape (n, d), each a value that the model knows."""
        codes = input_checks.check_codes(x, self.features, _OWNER)
        number_of_values(codes, [table.shape[1] for table in self.tables])
        return codes


def number_of_values(codes: IntArray, values: Sequence[int] | None) -> list[int]:
    """Return the number of values of each feature; *values* must cover the codes, shape (n, d)."""
    least: list[int] = (codes.max(axis=0) + 1).tolist()
    if values is None:
        return least
    if len(values) != len(least) or any(r < low for r, low in zip(values, least, strict=True)):
        raise InputError(
            f"the numbers of values are {list(values)}; expected at least {least}, since codes go from 0."
        )
    return list(values)


def _table(column: IntArray, positive: BoolArray, r: int) -> FloatArray:
    counts = [np.bincount(column[rows], minlength=r) + 1.0 for rows in (~positive, positive)]
    return np.array([count / count.sum() for count in counts])
