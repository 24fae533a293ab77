"""Naive Bayes classifier with two classes and nominal features coded 0, 1, ... ([003] 2.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from psm_lab.active import input_checks
from psm_sim.common.array_types import BoolArray, FloatArray, IntArray
from psm_sim.common.errors import InputError

_OWNER = "naive Bayes"


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes model P(y) prod_f P(x_f | y) of labels -1 and 1.

    Attributes
    ----------
    prior : ndarray, shape (2,)
        P(-1) and P(1).
    tables : tuple of ndarray, each of shape (2, r_f)
        P(v | -1) and P(v | 1) of each value v of each feature.
    """

    prior: FloatArray
    tables: tuple[FloatArray, ...]

    @classmethod
    def fit(cls, x: ArrayLike, y: ArrayLike, values: Sequence[int] | None = None) -> NaiveBayes:
        """Estimate the model from counts with add-one smoothing of cells and classes.

        [003] does not specify the smoothing.

        Parameters
        ----------
        x : array_like, shape (n, d)
            Features as codes 0, 1, ...
        y : array_like, shape (n,)
            Labels, -1 or 1.
        values : sequence of int, length d, optional
            Number r_f of values of each feature (default: the highest code plus 1).
        """
        codes = input_checks.check_codes(x, None, _OWNER)
        positive = input_checks.check_labels(y, len(codes), _OWNER) > 0
        sizes = number_of_values(codes, values)
        classes = np.array([(~positive).sum(), positive.sum()]) + 1.0
        tables = tuple(_table(column, positive, r) for column, r in zip(codes.T, sizes, strict=True))
        return cls(classes / classes.sum(), tables)

    @property
    def features(self) -> int:
        """Number d of features."""
        return len(self.tables)

    def padded(self) -> tuple[FloatArray, FloatArray]:
        """Return P(v | 1) and P(v | -1), each of shape (d, max r_f), padded with 0."""
        width = max(table.shape[1] for table in self.tables)
        tables = np.zeros((2, self.features, width))
        for feature, table in enumerate(self.tables):
            tables[:, feature, : table.shape[1]] = table
        return tables[1], tables[0]

    def decision_function(self, x: ArrayLike) -> FloatArray:
        """Return ln P(1, x) - ln P(-1, x) of instances, shape (n, d)."""
        codes = self.check_codes(x)
        odds = np.full(len(codes), float(np.log(self.prior[1] / self.prior[0])))
        for column, table in zip(codes.T, self.tables, strict=True):
            odds += np.log(table[1] / table[0])[column]
        return odds

    def predict(self, x: ArrayLike) -> IntArray:
        """Return 1 or -1 for instances of shape (n, d). Ties go to 1."""
        return np.where(self.decision_function(x) >= 0, 1, -1)

    def check_codes(self, x: ArrayLike) -> IntArray:
        """Return instances as codes, shape (n, d); each code must be a value of the model."""
        codes = input_checks.check_codes(x, self.features, _OWNER)
        number_of_values(codes, [table.shape[1] for table in self.tables])
        return codes


def number_of_values(codes: IntArray, values: Sequence[int] | None) -> list[int]:
    """Return *values*, or if it is None the highest code of each feature plus 1.

    *codes* has shape (n, d). Raise InputError unless *values* has d numbers above the highest codes.
    """
    min_values: list[int] = (codes.max(axis=0) + 1).tolist()
    if values is None:
        return min_values
    if len(values) != len(min_values) or any(r < low for r, low in zip(values, min_values, strict=True)):
        raise InputError(f"values must be at least {min_values} (codes start at 0), got {list(values)}.")
    return list(values)


def _table(column: IntArray, positive: BoolArray, r: int) -> FloatArray:
    counts = [np.bincount(column[rows], minlength=r) + 1.0 for rows in (~positive, positive)]
    return np.array([count / count.sum() for count in counts])
