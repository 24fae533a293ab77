"""Tic-tac-toe endgames: all final boards, as in the UCI data set."""

from __future__ import annotations

import numpy as np

from psm_sim.common.array_types import IntArray

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_EMPTY, _X, _O = 0, 1, 2

Board = tuple[int, ...]


def tictactoe_endgames() -> tuple[IntArray, IntArray]:
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
