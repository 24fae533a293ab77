"""Regret of a replay and its proven bound, at several numbers of polls."""

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
from psm_sim.replay.replay_history import ReplayHistory

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
    """Return regret and bound over the first *max_polls* polls.

    Learn-alpha is bounded by Corollary 1 and Fixed-share by Theorem 1, both against Fixed-share with
    the switching rate alpha* that is best in hindsight. Static-expert is bounded by log n against the
    best fixed expert.

    Parameters
    ----------
    history : ReplayHistory
        History of the replay, whose first polls have one row each.
    learner : Learner
        The learner of the replay.
    max_polls : int
        Maximum number of polls, at least 1. The time for alpha* is proportional to it.

    Returns
    -------
    RegretAndBound
        Values at up to ``CHECKPOINTS`` prefixes.
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
