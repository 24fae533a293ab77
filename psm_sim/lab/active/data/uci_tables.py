"""Tables of the UCI repository: six that are shipped, and more from a folder of KEEL files."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from psm_sim.array_types import BoolArray, FloatArray, IntArray
from psm_sim.errors import InputError
from psm_sim.registry import unknown_name_error

_SHIPPED = Path(__file__).with_name("uci")


class _Kind(NamedTuple):
    """What a file does not say: its classes called 1, its columns of numbers, its name in a KEEL folder."""

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
"""Name of a table, and what its file does not say; the last four are not shipped."""


@dataclass(frozen=True)
class UciTable:
    """Table of labelled instances.

    Attributes
    ----------
    name : str
        Its name.
    x : ndarray, shape (n, d)
        Numbers, and nominal values as codes 0, 1, ... in alphabetical order.
    numeric : ndarray of bool, shape (d,)
        Which features are numbers.
    y : ndarray, shape (n,)
        The labels, -1 or 1.
    """

    name: str
    x: FloatArray
    numeric: BoolArray
    y: IntArray

    def coded(self, train: IntArray) -> IntArray:
        """Return the features as codes, shape (n, d); numbers cut at the quartiles of the rows *train*."""
        found = self.x.astype(np.intp)
        for feature in np.flatnonzero(self.numeric):
            cuts = np.unique(np.quantile(self.x[train, feature], [0.25, 0.5, 0.75]))
            found[:, feature] = np.searchsorted(cuts, self.x[:, feature])
        return found


def load_table(name: str, folder: Path | None = None) -> UciTable:
    """Return a table by name.

    Parameters
    ----------
    name : str
        One of :data:`KINDS`.
    folder : Path, optional
        A folder with the .dat files of the KEEL repository, searched below too; needed for the tables
        that are not shipped.

    Raises
    ------
    InputError
        If there is no table of that name, or it is neither shipped nor in the folder.
    """
    if name not in KINDS:
        raise unknown_name_error("table", name, list(KINDS))
    kind = KINDS[name]
    rows = [line.split(",") for line in _lines(name, kind.file or f"{name}.dat", folder)]
    columns = list(zip(*rows, strict=True))
    numeric = np.isin(np.arange(len(columns) - 1), kind.numeric)
    parts = [_column(column, is_number) for column, is_number in zip(columns[:-1], numeric, strict=True)]
    return UciTable(name, np.array(parts).T, numeric, np.where(np.isin(columns[-1], kind.positive), 1, -1))


def available_tables(name: str, folder: Path | None = None) -> bool:
    """Say whether a table is shipped or lies in the folder."""
    shipped = (_SHIPPED / f"{name}.csv.gz").is_file()
    return shipped or (folder is not None and any(folder.rglob(KINDS[name].file or f"{name}.dat")))


def _lines(name: str, file: str, folder: Path | None) -> list[str]:
    shipped = _SHIPPED / f"{name}.csv.gz"
    if shipped.is_file():
        return gzip.decompress(shipped.read_bytes()).decode().split()
    found = next(folder.rglob(file), None) if folder is not None else None
    if found is None:
        raise InputError(f"The table {name!r} is not shipped; expected {file} of KEEL in a folder given.")
    text = found.read_text(encoding="utf-8").replace(" ", "")
    return [line for line in text.splitlines() if line and not line.startswith("@")]


def _column(values: tuple[str, ...], numeric: bool) -> FloatArray:
    if numeric:
        return np.array(values, dtype=np.float64)
    return np.unique(values, return_inverse=True)[1].astype(np.float64)
