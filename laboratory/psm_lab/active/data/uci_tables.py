"""Six tables of the UCI repository, and the enumerated boards of a seventh."""

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


TIC_TAC_TOE = "tic-tac-toe"
TABLE_KINDS = {
    "votes": _Kind(("democrat",)),
    "crx": _Kind(("positive",), (1, 2, 7, 10, 13, 14)),
    "chess": _Kind(("won",)),
    "breast": _Kind(("recurrence-events",)),
    "german": _Kind(("1",), (1, 4, 7, 10, 12, 15, 17)),
    "vehicle": _Kind(("bus", "van"), tuple(range(18))),
}
"""Metadata of the bundled tables by name."""


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
    """Return a table by name, which is :data:`TIC_TAC_TOE` or one of :data:`TABLE_KINDS`."""
    if name == TIC_TAC_TOE:
        boards, y = _tictactoe_endgames()
        return UciTable(name, boards.astype(np.float64), np.zeros(9, dtype=np.bool_), y)
    if name not in TABLE_KINDS:
        raise unknown_name_error("table", name, [TIC_TAC_TOE, *TABLE_KINDS])
    lines = gzip.decompress((_BUNDLED / f"{name}.csv.gz").read_bytes()).decode().split()
    columns = list(zip(*(line.split(",") for line in lines), strict=True))
    kind = TABLE_KINDS[name]
    numeric = np.isin(np.arange(len(columns) - 1), kind.numeric)
    parts = [_column(column, is_number) for column, is_number in zip(columns[:-1], numeric, strict=True)]
    return UciTable(name, np.array(parts).T, numeric, np.where(np.isin(columns[-1], kind.positive), 1, -1))


def _column(values: tuple[str, ...], numeric: bool) -> FloatArray:
    if numeric:
        return np.array(values, dtype=np.float64)
    return np.unique(values, return_inverse=True)[1].astype(np.float64)


# Winning lines of tic-tac-toe by square numbers, and the codes of a square.
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_EMPTY, _X, _O = 0, 1, 2

Board = tuple[int, ...]


def _tictactoe_endgames() -> tuple[IntArray, IntArray]:
    """Return the 958 final boards, shape (958, 9), and labels, shape (958,), 1 if x has won.

    x moves first. A square is 0 if empty, 1 for x and 2 for o. x wins on 626 boards.
    """
    boards = sorted(_final_boards((_EMPTY,) * 9, _X, {}))
    labels = [1 if _has_won(board, _X) else -1 for board in boards]
    return np.array(boards, dtype=np.intp), np.array(labels, dtype=np.intp)


def _has_won(board: Board, player: int) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)


def _final_boards(board: Board, player: int, cache: dict[Board, set[Board]]) -> set[Board]:
    """Return the final boards reachable from *board*; *player* moves next, and *cache* stores results."""
    if board not in cache:
        over = _has_won(board, _X) or _has_won(board, _O) or _EMPTY not in board
        cache[board] = {board} if over else set()
        for square in () if over else (i for i in range(9) if board[i] == _EMPTY):
            moved = (*board[:square], player, *board[square + 1 :])
            cache[board] |= _final_boards(moved, _X + _O - player, cache)
    return cache[board]
