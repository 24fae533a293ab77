"""Recorded data of a replay for figures: means over windows of polls, the first polls, and their regret.

The memory is bounded for any number of polls. The mean of a window times its number of polls is the sum
over the window. Cumulative losses computed from the windows therefore equal those of all polls.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.learning import (
    FixedShare,
    LearnAlpha,
    Learner,
    best_rate,
    learn_alpha_bound,
    upper_bound,
)

BEGINNING = 20_000
"""Number of first polls that are recorded one by one."""

RATE_WINDOWS = 240
"""Maximum number of windows for the posterior over the switching rates, even."""

FACTS = ("slept_ms", "buffered_bytes", "mixture", "suffered", "current_best")
"""Columns of a row before the n losses and the n weights."""


class NullHistory:
    """History that records nothing, for replays without figures."""

    def before(self, learner: Learner) -> None:
        """Handle a poll before the learner is updated."""

    def after(self, facts: tuple[float, ...], losses: FloatArray) -> None:
        """Handle a poll with the values of :data:`FACTS` and the *losses* of the experts."""


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

    def cumulative(self, name: str) -> FloatArray:
        """Return the cumulative sum of one of :data:`FACTS` at the end of each row."""
        return np.cumsum(self.facts[name] * self.polls)

    @property
    def cumulative_losses(self) -> FloatArray:
        """Cumulative loss of each expert, shape (rows, n)."""
        return np.cumsum(self.losses * self.polls[:, None], axis=0)

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


class ReplayHistory(NullHistory):
    """History of one replay with the data for figures, with at most *windows* windows, an even number."""

    def __init__(self, experts: int, windows: int = 1200) -> None:
        self._experts = experts
        self._row: FloatArray = np.zeros(len(FACTS) + 2 * experts)
        self._windows = Windows(self._row.size, windows)
        self._first_rows: FloatArray = np.empty((BEGINNING, self._row.size))
        self._rate_windows = Windows(0, 2)
        self.rates: FloatArray = np.empty(0)
        self.polls = 0

    def before(self, learner: Learner) -> None:
        """Record the weights of the experts, and of the switching rates if the learner has any."""
        self._row[-self._experts :] = learner.weights
        if isinstance(learner, LearnAlpha):
            weights = learner.rate_weights
            if not self.polls:
                self.rates = learner.rates
                self._rate_windows = Windows(weights.size, RATE_WINDOWS)
            self._rate_windows.add(weights)

    def after(self, facts: tuple[float, ...], losses: FloatArray) -> None:
        """Record a poll."""
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

    @property
    def rate_weights(self) -> tuple[FloatArray, FloatArray]:
        """Posterior over the switching rates, shape (k, m), and the last poll of each row, shape (k,)."""
        means, counts = self._rate_windows.means()
        return means, np.cumsum(counts)

    def _table(self, rows: FloatArray, polls: FloatArray) -> PollTable:
        facts = {name: rows[:, column] for column, name in enumerate(FACTS)}
        losses, weights = rows[:, len(FACTS) : -self._experts], rows[:, -self._experts :]
        return PollTable(facts, losses, weights, polls)


CHECKPOINTS = 24


class RegretAndBound(NamedTuple):
    """Regret of the mixture loss and its bound, in nats, for growing prefixes of a replay.

    Attributes
    ----------
    against : str
        Comparator of the regret.
    theorem : str
        Theorem that states the bound.
    polls, regret, bound : ndarray, shape (k,)
        Length of the prefix in polls, the regret and its bound.
    alpha : ndarray, shape (k,)
        Best switching rate alpha* of the prefix; nan where the bound does not depend on it.
    """

    against: str
    theorem: str
    polls: FloatArray
    regret: FloatArray
    bound: FloatArray
    alpha: FloatArray


def regret_and_bound(history: ReplayHistory, learner: Learner, max_polls: int = 10_000) -> RegretAndBound:
    """Return regret and bound over the first *max_polls* polls, at up to :data:`CHECKPOINTS` prefixes.

    Learn-alpha is bounded by Corollary 1 and Fixed-share by Theorem 1, both against Fixed-share with the
    switching rate alpha* that is best in hindsight. Static-expert is bounded by log n against the best fixed
    expert. *history* and *learner* are those of the replay. The time for alpha* is proportional to
    *max_polls*.
    """
    beginning = history.beginning.first(max_polls)
    mixture = beginning.cumulative("mixture")
    polls = np.unique(np.geomspace(1, mixture.size, CHECKPOINTS).round().astype(int))
    if isinstance(learner, (LearnAlpha, FixedShare)):
        return _against_best_rate(beginning.losses, mixture, polls, learner)
    regret = mixture[polls - 1] - beginning.cumulative_losses.min(axis=1)[polls - 1]
    bound, no_alpha = np.full(polls.size, math.log(learner.n_experts)), np.full(polls.size, np.nan)
    return RegretAndBound("the best fixed expert", "log n", polls.astype(np.float64), regret, bound, no_alpha)


def _against_best_rate(
    losses: FloatArray, mixture: FloatArray, polls: NDArray[np.int64], learner: LearnAlpha | FixedShare
) -> RegretAndBound:
    best = [best_rate(losses[:rounds]) for rounds in polls.tolist()]
    regret = mixture[polls - 1] - np.array([rate.loss for rate in best])
    bound = [_bound(rounds, rate.alpha, learner) for rounds, rate in zip(polls.tolist(), best, strict=True)]
    theorem = "Corollary 1" if isinstance(learner, LearnAlpha) else "Theorem 1"
    name = "Fixed-share at the best rate in hindsight"
    alpha = np.array([rate.alpha for rate in best])
    return RegretAndBound(name, theorem, polls.astype(np.float64), regret, np.array(bound), alpha)


def _bound(rounds: int, alpha: float, learner: LearnAlpha | FixedShare) -> float:
    if isinstance(learner, LearnAlpha):
        return learn_alpha_bound(rounds, alpha, learner.rates)
    return float(upper_bound(rounds, alpha, learner.alpha))
