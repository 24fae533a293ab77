"""Six tables of the UCI repository."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from psm_sim.common.array_types import BoolArray, FloatArray, IntArray
from psm_sim.common.registry import unknown_name_error

_BUNDLED = Path(__file__).with_name("uci")


class _Kind(NamedTuple):
    """Metadata of a table: its positive classes and numeric columns."""

    positive: tuple[str, ...]
    numeric: tuple[int, ...] = ()


KINDS = {
    "votes": _Kind(("democrat",)),
    "crx": _Kind(("positive",), (1, 2, 7, 10, 13, 14)),
    "chess": _Kind(("won",)),
    "breast": _Kind(("recurrence-events",)),
    "german": _Kind(("1",), (1, 4, 7, 10, 12, 15, 17)),
    "vehicle": _Kind(("bus", "van"), tuple(range(18))),
}
"""Metadata of the tables by name."""


@dataclass(frozen=True)
class UciTable:
    """Table of labelled instances.

    Attributes
    ----------
    name : str
        Name of the table.
    x : ndarray, shape (n, d)
        Numeric values, and nominal values as codes 0, 1, ... in alphabetical order.
    numeric : ndarray of bool, shape (d,)
        Whether each feature is numeric.
    y : ndarray, shape (n,)
        Labels, -1 or 1.
    """

    name: str
    x: FloatArray
    numeric: BoolArray
    y: IntArray

    def coded(self, train: IntArray) -> IntArray:
        """Return the features as codes, shape (n, d).

        Numeric features are binned at the quartiles of the rows *train*.
        """
        codes = self.x.astype(np.intp)
        for feature in np.flatnonzero(self.numeric):
            cuts = np.unique(np.quantile(self.x[train, feature], [0.25, 0.5, 0.75]))
            codes[:, feature] = np.searchsorted(cuts, self.x[:, feature])
        return codes


def load_table(name: str) -> UciTable:
    """Return a table by name, which is one of :data:`KINDS`."""
    if name not in KINDS:
        raise unknown_name_error("table", name, list(KINDS))
    lines = gzip.decompress((_BUNDLED / f"{name}.csv.gz").read_bytes()).decode().split()
    columns = list(zip(*(line.split(",") for line in lines), strict=True))
    kind = KINDS[name]
    numeric = np.isin(np.arange(len(columns) - 1), kind.numeric)
    parts = [_column(column, is_number) for column, is_number in zip(columns[:-1], numeric, strict=True)]
    return UciTable(name, np.array(parts).T, numeric, np.where(np.isin(columns[-1], kind.positive), 1, -1))


def _column(values: tuple[str, ...], numeric: bool) -> FloatArray:
    if numeric:
        return np.array(values, dtype=np.float64)
    return np.unique(values, return_inverse=True)[1].astype(np.float64)
