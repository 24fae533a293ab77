"""Recorded data of a replay for figures: means over windows of polls, and the first polls.

The memory is bounded for any number of polls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.learning import Learner

BEGINNING = 20_000
"""Number of first polls that are recorded one by one."""

FACTS = ("slept_ms", "buffered_bytes", "mixture", "suffered", "current_best")
"""Columns of a row before the n losses and the n weights."""


class PollTable(NamedTuple):
    """Rows of a replay, each the mean over a window of polls.

    Attributes
    ----------
    facts : dict of str to ndarray, shape (rows,)
        Column of each of :data:`FACTS`.
    losses, weights : ndarray, shape (rows, n)
        Losses and weights of the experts.
    polls : ndarray, shape (rows,)
        Number of polls in each window.
    """

    facts: dict[str, FloatArray]
    losses: FloatArray
    weights: FloatArray
    polls: FloatArray

    @property
    def end_s(self) -> FloatArray:
        """End time of each row, in seconds since the start of the replay."""
        return np.cumsum(self.facts["slept_ms"] * self.polls) / 1e3

    @property
    def last_poll(self) -> FloatArray:
        """1-based number of the last poll of each row."""
        return np.cumsum(self.polls)

    def first(self, rows: int) -> PollTable:
        """Return the first *rows* rows, or all if there are fewer."""
        facts = {name: column[:rows] for name, column in self.facts.items()}
        return PollTable(facts, self.losses[:rows], self.weights[:rows], self.polls[:rows])


class Windows:
    """Means of rows over windows of equal length.

    The number of windows is at most *max_windows*, which is even. When all windows are full, neighbours are
    merged, so that at least half of *max_windows* remain.
    """

    def __init__(self, width: int, max_windows: int) -> None:
        self._rows: FloatArray = np.zeros((max_windows, width))
        self._sum: FloatArray = np.zeros(width)
        self._filled, self._rows_in_window, self._window = 0, 0, 1

    def add(self, row: FloatArray) -> None:
        """Add a row, shape (width,)."""
        self._sum += row
        self._rows_in_window += 1
        if self._rows_in_window == self._window:
            self._rows[self._filled] = self._sum / self._rows_in_window
            self._sum[:] = 0
            self._filled, self._rows_in_window = self._filled + 1, 0
            if self._filled == len(self._rows):
                self._merge()

    def _merge(self) -> None:
        self._filled //= 2
        self._rows[: self._filled] = (self._rows[0::2] + self._rows[1::2]) / 2
        self._window *= 2

    def means(self) -> tuple[FloatArray, FloatArray]:
        """Return the means, shape (k, width), and the number of rows in each window, shape (k,)."""
        means, counts = self._rows[: self._filled], np.full(self._filled, float(self._window))
        if not self._rows_in_window:
            return means.copy(), counts
        return np.vstack([means, self._sum / self._rows_in_window]), np.append(counts, self._rows_in_window)


class ReplayHistory:
    """Data of one replay for its figures, in at most *windows* windows; *windows* must be even."""

    def __init__(self, experts: int, windows: int = 1200) -> None:
        self._experts = experts
        self._row: FloatArray = np.zeros(len(FACTS) + 2 * experts)
        self._windows = Windows(self._row.size, windows)
        self._first_rows: FloatArray = np.empty((BEGINNING, self._row.size))
        self.polls = 0

    def record_weights(self, learner: Learner) -> None:
        """Record the weights before the learner is updated."""
        self._row[-self._experts :] = learner.weights

    def after(self, facts: tuple[float, ...], losses: FloatArray) -> None:
        """Record a poll with the values of :data:`FACTS` and the *losses* of the experts."""
        self._row[: len(FACTS)] = facts
        self._row[len(FACTS) : -self._experts] = losses
        if self.polls < BEGINNING:
            self._first_rows[self.polls] = self._row
        self._windows.add(self._row)
        self.polls += 1

    @property
    def whole(self) -> PollTable:
        """All polls of the replay, averaged over windows."""
        return self._table(*self._windows.means())

    @property
    def beginning(self) -> PollTable:
        """The first polls, at most :data:`BEGINNING`, with one row per poll."""
        rows = self._first_rows[: self.polls]
        return self._table(rows, np.ones(len(rows)))

    def _table(self, rows: FloatArray, polls: FloatArray) -> PollTable:
        facts = {name: rows[:, column] for column, name in enumerate(FACTS)}
        losses, weights = rows[:, len(FACTS) : -self._experts], rows[:, -self._experts :]
        return PollTable(facts, losses, weights, polls)
