"""Regret of a replay, and the bound that is proven for it, at some of its polls."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.array_types import FloatArray
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
    """Regret of the mixture loss and its bound, in nats, at the ends of growing prefixes of a replay.

    ``against`` says what the regret is measured against, ``theorem`` what bounds it. ``polls``, ``regret``,
    ``bound`` and ``alpha`` (alpha* of the prefix, NaN where the bound does not depend on it) have shape (k,).
    """

    against: str
    theorem: str
    polls: FloatArray
    regret: FloatArray
    bound: FloatArray
    alpha: FloatArray


def regret_and_bound(history: ReplayHistory, learner: Learner, most: int = 10_000) -> RegretAndBound:
    """Return regret and bound over the first *most* polls, of which every loss is needed.

    Learn-alpha is bounded by Corollary 1 and Fixed-share by Theorem 1, both against Fixed-share with the
    rate alpha* that is best in hindsight; Static-expert by log n against the best fixed expert.

    Parameters
    ----------
    history : History
        The history of the replay.
    learner : Learner
        The learner that made it.
    most : int
        The largest number of polls, at least 1; alpha* takes time in proportion to it.
    """
    beginning = history.beginning.first(most)
    mixture = beginning.cumulative("mixture")
    polls = np.unique(np.geomspace(1, mixture.size, CHECKPOINTS).round().astype(int))
    if isinstance(learner, (LearnAlpha, FixedShare)):
        return _against_best_rate(beginning.losses, mixture, polls, learner)
    regret = mixture[polls - 1] - beginning.cumulative_losses.min(axis=1)[polls - 1]
    bound, nothing = np.full(polls.size, math.log(learner.n_experts)), np.full(polls.size, np.nan)
    return RegretAndBound("the best fixed expert", "log n", polls.astype(np.float64), regret, bound, nothing)


def _against_best_rate(
    losses: FloatArray, mixture: FloatArray, polls: NDArray[np.int64], learner: LearnAlpha | FixedShare
) -> RegretAndBound:
    best = [best_rate(losses[:rounds]) for rounds in polls.tolist()]
    regret = mixture[polls - 1] - np.array([each.loss for each in best])
    bound = [_bound(rounds, each.alpha, learner) for rounds, each in zip(polls.tolist(), best, strict=True)]
    theorem = "Corollary 1" if isinstance(learner, LearnAlpha) else "Theorem 1"
    name = "Fixed-share at the best rate in hindsight"
    alpha = np.array([each.alpha for each in best])
    return RegretAndBound(name, theorem, polls.astype(np.float64), regret, np.array(bound), alpha)


def _bound(rounds: int, alpha: float, learner: LearnAlpha | FixedShare) -> float:
    if isinstance(learner, LearnAlpha):
        return learn_alpha_bound(rounds, alpha, learner.rates)
    return float(upper_bound(rounds, alpha, learner.alpha))
