"""Tic-tac-toe: all boards at which a game can end, enumerated, as the UCI endgame data set has them."""

from __future__ import annotations

import numpy as np

from psm_sim.array_types import IntArray

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_EMPTY, _X, _O = 0, 1, 2

Board = tuple[int, ...]


def tictactoe_endgames() -> tuple[IntArray, IntArray]:
    """Return the 958 final boards, shape (958, 9), and their labels, shape (958,), 1 where x has won.

    x moves first; a square is 0 if empty, 1 if it holds x, 2 if it holds o. 626 boards are won by x.
    """
    boards = sorted(_finals((_EMPTY,) * 9, _X, {}))
    labels = [1 if _won(board, _X) else -1 for board in boards]
    return np.array(boards, dtype=np.intp), np.array(labels, dtype=np.intp)


def _won(board: Board, player: int) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)


def _finals(board: Board, player: int, known: dict[Board, set[Board]]) -> set[Board]:
    """Return the boards at which a game that has come to *board* can end."""
    if board not in known:
        over = _won(board, _X) or _won(board, _O) or _EMPTY not in board
        known[board] = {board} if over else set()
        for square in () if over else (i for i in range(9) if board[i] == _EMPTY):
            moved = (*board[:square], player, *board[square + 1 :])
            known[board] |= _finals(moved, _X + _O - player, known)
    return known[board]
