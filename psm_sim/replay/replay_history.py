"""History of a replay, for figures: means over windows of polls, and every poll of the beginning.

Both are bounded for any number of polls. A window's mean times its polls is the sum over them, so
cumulative losses read off the windows are those of every poll.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.learning import LearnAlpha, Learner

BEGINNING = 20_000
"""Polls kept one by one."""

FACTS = ("slept_ms", "buffered_bytes", "mixture", "suffered", "current_best")
"""The columns of a row before the n losses and the n weights."""


class NullHistory:
    """History that keeps nothing, for replays without figures."""

    def before(self, learner: Learner) -> None:
        """Look at the learner before it learns."""

    def after(self, facts: tuple[float, ...], losses: FloatArray) -> None:
        """Take :data:`FACTS` of a poll and the experts' losses, shape (n,)."""


class PollTable(NamedTuple):
    """Rows of polls: means over windows, and the number of polls in each.

    ``facts`` has a column of shape (rows,) for each of :data:`FACTS`; ``losses`` and ``weights`` of the
    experts have shape (rows, n), ``polls`` has shape (rows,).
    """

    facts: dict[str, FloatArray]
    losses: FloatArray
    weights: FloatArray
    polls: FloatArray

    @property
    def end_s(self) -> FloatArray:
        """The time at each row's end, in seconds since the beginning."""
        return np.cumsum(self.facts["slept_ms"] * self.polls) / 1e3

    @property
    def last_poll(self) -> FloatArray:
        """The number of each row's last poll, the first one being 1."""
        return np.cumsum(self.polls)

    def cumulative(self, name: str) -> FloatArray:
        """Return the running total of one of :data:`FACTS`, at each row's end."""
        return np.cumsum(self.facts[name] * self.polls)

    @property
    def cumulative_losses(self) -> FloatArray:
        """The running total of each expert's loss, shape (rows, n)."""
        return np.cumsum(self.losses * self.polls[:, None], axis=0)

    def first(self, rows: int) -> PollTable:
        """Return the first *rows* rows, or all there are."""
        facts = {name: column[:rows] for name, column in self.facts.items()}
        return PollTable(facts, self.losses[:rows], self.weights[:rows], self.polls[:rows])


class Windows:
    """Means of rows over equal windows; when they are too many, neighbours are joined.

    At most *most* windows (an even number). When full, neighbours are joined, so at least *most* / 2 remain.
    """

    def __init__(self, width: int, most: int) -> None:
        self._rows: FloatArray = np.zeros((most, width))
        self._sum: FloatArray = np.zeros(width)
        self._filled, self._in, self._window = 0, 0, 1

    def add(self, row: FloatArray) -> None:
        """Take one row, shape (width,)."""
        self._sum += row
        self._in += 1
        if self._in == self._window:
            self._rows[self._filled] = self._sum / self._in
            self._sum[:] = 0
            self._filled, self._in = self._filled + 1, 0
            if self._filled == len(self._rows):
                self._join()

    def _join(self) -> None:
        self._filled //= 2
        self._rows[: self._filled] = (self._rows[0::2] + self._rows[1::2]) / 2
        self._window *= 2

    def means(self) -> tuple[FloatArray, FloatArray]:
        """Return the means, shape (k, width), and the number of rows in each, shape (k,)."""
        means, counts = self._rows[: self._filled], np.full(self._filled, float(self._window))
        if not self._in:
            return means.copy(), counts
        return np.vstack([means, self._sum / self._in]), np.append(counts, self._in)


class ReplayHistory(NullHistory):
    """History of one replay that keeps what the figures show.

    Parameters
    ----------
    experts : int
        The number of experts.
    windows : int
        The largest number of windows over the whole replay, even.
    rate_windows : int
        The largest number of windows for the posterior over the switching rates, even.
    """

    def __init__(self, experts: int, windows: int = 1200, rate_windows: int = 240) -> None:
        self._experts = experts
        self._row: FloatArray = np.zeros(len(FACTS) + 2 * experts)
        self._windows = Windows(self._row.size, windows)
        self._begun: FloatArray = np.empty((BEGINNING, self._row.size))
        self._rate_windows, self._most_rate_windows = Windows(0, 2), rate_windows
        self.rates: FloatArray = np.empty(0)
        self.polls = 0

    def before(self, learner: Learner) -> None:
        """Note the weights with which the learner made this poll, of the rates too if it has them."""
        self._row[-self._experts :] = learner.weights
        if isinstance(learner, LearnAlpha):
            weights = learner.rate_weights
            if not self.polls:
                self.rates = learner.rates
                self._rate_windows = Windows(weights.size, self._most_rate_windows)
            self._rate_windows.add(weights)

    def after(self, facts: tuple[float, ...], losses: FloatArray) -> None:
        """Note a poll."""
        self._row[: len(FACTS)] = facts
        self._row[len(FACTS) : -self._experts] = losses
        if self.polls < BEGINNING:
            self._begun[self.polls] = self._row
        self._windows.add(self._row)
        self.polls += 1

    @property
    def whole(self) -> PollTable:
        """The whole replay, in windows."""
        return self._table(*self._windows.means())

    @property
    def beginning(self) -> PollTable:
        """The first polls, at most :data:`BEGINNING`, one row per poll."""
        rows = self._begun[: self.polls]
        return self._table(rows, np.ones(len(rows)))

    @property
    def rate_weights(self) -> tuple[FloatArray, FloatArray]:
        """The posterior over the switching rates, shape (k, m), and the last poll of each row, (k,)."""
        means, counts = self._rate_windows.means()
        return means, np.cumsum(counts)

    def _table(self, rows: FloatArray, polls: FloatArray) -> PollTable:
        facts = {name: rows[:, column] for column, name in enumerate(FACTS)}
        losses, weights = rows[:, len(FACTS) : -self._experts], rows[:, -self._experts :]
        return PollTable(facts, losses, weights, polls)
