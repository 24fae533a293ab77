"""Tables of the UCI repository: six bundled tables, and more from a folder of KEEL files."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from psm_sim.common.array_types import BoolArray, FloatArray, IntArray
from psm_sim.common.errors import InputError
from psm_sim.common.registry import unknown_name_error

_BUNDLED = Path(__file__).with_name("uci")


class _Kind(NamedTuple):
    """Metadata of a table: its positive classes, numeric columns, and file name in a KEEL folder."""

    positive: tuple[str, ...]
    numeric: tuple[int, ...] = ()
    file: str = ""


KINDS = {
    "votes": _Kind(("democrat",), file="housevotes.dat"),
    "crx": _Kind(("positive",), (1, 2, 7, 10, 13, 14)),
    "chess": _Kind(("won",)),
    "breast": _Kind(("recurrence-events",)),
    "german": _Kind(("1",), (1, 4, 7, 10, 12, 15, 17)),
    "vehicle": _Kind(("bus", "van"), tuple(range(18))),
    "flare": _Kind(("positive",), file="flare-F.dat"),
    "mushroom": _Kind(("e",)),
    "splice": _Kind(("N",)),
    "magic": _Kind(("g",), tuple(range(10))),
}
"""Metadata of the tables by name; the last four are not bundled."""


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


def load_table(name: str, folder: Path | None = None) -> UciTable:
    """Return a table by name.

    Parameters
    ----------
    name : str
        One of :data:`KINDS`.
    folder : Path, optional
        Folder with the .dat files of the KEEL repository, searched recursively. Required for tables that are
        not bundled.

    Raises
    ------
    InputError
        If the name is unknown, or the table is neither bundled nor in the folder.
    """
    if name not in KINDS:
        raise unknown_name_error("table", name, list(KINDS))
    kind = KINDS[name]
    rows = [line.split(",") for line in _lines(name, kind.file or f"{name}.dat", folder)]
    columns = list(zip(*rows, strict=True))
    numeric = np.isin(np.arange(len(columns) - 1), kind.numeric)
    parts = [_column(column, is_number) for column, is_number in zip(columns[:-1], numeric, strict=True)]
    return UciTable(name, np.array(parts).T, numeric, np.where(np.isin(columns[-1], kind.positive), 1, -1))


def _lines(name: str, file: str, folder: Path | None) -> list[str]:
    bundled = _BUNDLED / f"{name}.csv.gz"
    if bundled.is_file():
        return gzip.decompress(bundled.read_bytes()).decode().split()
    path = next(folder.rglob(file), None) if folder is not None else None
    if path is None:
        raise InputError(f"Table {name!r} is not bundled; pass a folder that contains {file} of KEEL.")
    text = path.read_text(encoding="utf-8").replace(" ", "")
    return [line for line in text.splitlines() if line and not line.startswith("@")]


def _column(values: tuple[str, ...], numeric: bool) -> FloatArray:
    if numeric:
        return np.array(values, dtype=np.float64)
    return np.unique(values, return_inverse=True)[1].astype(np.float64)
