"""Regret of several learners over their rounds, and what hindsight would have lost in Learn-alpha's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.lab.studies.non_stationary.recorded_rounds import LearnerRound, Unshared
from psm_sim.learning import best_rate, rate_losses

RATES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 0.5)
"""The switching rates of the Fixed-share learners; 0 is Static-expert."""

CURVE = (0.0, *np.logspace(-6, -0.05, 30).tolist())
"""The switching rates at which the loss of Fixed-share is drawn as a curve."""


def regrets(
    runs: Sequence[Sequence[LearnerRound]], switches: int
) -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Return what each learner lost, in nats, and what hindsight would have lost in the first one's rounds.

    Parameters
    ----------
    runs
        The rounds of Learn-alpha's run, and those of the learners of :data:`RATES`.
    switches
        How often the best sequence of experts may switch.

    Returns
    -------
    learners : list of dict
        Of each learner its mixture loss and its regret over its own rounds, to the best expert and to the
        best sequence; and the loss in Learn-alpha's rounds, the same for all, as ``common``.
    hindsight : dict
        The losses of the best expert, sequence and switching rate in Learn-alpha's rounds, and the regret of
        Fixed-share at each rate of :data:`CURVE`.
    """
    tables = [np.array([each.losses for each in rounds]) for rounds in runs]
    best = least_losses(tables, switches)
    learners = [_own_regret(rounds, *ends) for rounds, ends in zip(runs, best.tolist(), strict=True)]
    common, (best_expert, best_switching) = tables[0], best[0].tolist()
    suffered = _at_rates(common, (*RATES, *CURVE))
    losses = [learners[0]["mixture"], *suffered[: len(RATES)].tolist()]
    rate = best_rate(common)
    hindsight = {
        "rounds": len(common),
        "best_expert": best_expert,
        "best_switching": best_switching,
        "best_rate": rate.loss,
        "alpha": rate.alpha,
        "each_round": common.min(axis=1).sum(),
        "curve": suffered[len(RATES) :] - best_expert,
    }
    return [own | {"common": loss} for own, loss in zip(learners, losses, strict=True)], hindsight


def least_losses(tables: Sequence[FloatArray], switches: int) -> FloatArray:
    """Return the least losses without a switch and with at most so many *switches*, shape (m, 2), in nats.

    The dynamic programming of :func:`~psm_sim.learning.best_switching`, over m learners in one pass.

    Parameters
    ----------
    tables
        The loss of each expert in each round of every learner, shape (rounds, n) each.
    switches
        At least 0.
    """
    longest, n = max(map(len, tables)), tables[0].shape[1]
    # A round in which nobody loses anything changes no least loss.
    losses = np.zeros((longest, n, 1, len(tables)))
    for learner, table in enumerate(tables):
        losses[: len(table), :, 0, learner] = table
    value: FloatArray = np.repeat(losses[0], switches + 1, axis=1)
    kept, least = value[:, 1:], np.empty(value.shape[1:])
    for loss in losses[1:]:
        np.minimum.reduce(value, axis=0, out=least)
        np.minimum(kept, least[:-1], out=kept)
        np.add(value, loss, out=value)
    ends: FloatArray = value.min(axis=0)[[0, -1]].T
    return ends


def _own_regret(
    rounds: Sequence[LearnerRound], best_expert: float, best_switching: float
) -> dict[str, float]:
    suffered = sum(each.mixture for each in rounds)
    return {
        "rounds": len(rounds),
        "mixture": suffered,
        "own_regret": suffered - best_expert,
        "own_switching_regret": suffered - best_switching,
    }


def _at_rates(losses: FloatArray, rates: Sequence[float]) -> FloatArray:
    """Return the loss of Fixed-share at each of the *rates*; at 0 nothing is shared, which is Bayes' rule."""
    every = np.array(rates)
    found = np.full(every.size, _by_bayes(losses))
    found[every > 0] = rate_losses(losses, every[every > 0])
    return found


def _by_bayes(losses: FloatArray) -> float:
    least, learner = losses.min(axis=1), Unshared(losses.shape[1])
    return float(sum(map(learner.update, losses - least[:, None])) + least.sum())
