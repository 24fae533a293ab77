"""Regret against every comparator, as time series.

A learner suffers two losses in each round. The *mixture loss* (2.1) is what the theory is about: -log of the
mean of exp(-loss), never more than the weighted mean of the losses. The *loss of the combined prediction*
is what its user suffers: the loss at the one value that :meth:`Learner.predict` gave. If the loss is convex
in the value, it too is at most the weighted mean; otherwise it can exceed it, and no bound speaks of it.
:func:`run_learner` gives the mixture loss and the predictions at which to evaluate the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.learning import input_checks
from psm_sim.learning.best_switching_sequence import best_switching
from psm_sim.learning.learner import Learner
from psm_sim.learning.learners import FixedShare
from psm_sim.learning.rate_curve import best_rate


class LearnerTrace(NamedTuple):
    """Mixture loss in nats and prediction of a learner in each round, shape (T,) each."""

    mixture: FloatArray
    predictions: FloatArray


def run_learner(learner: Learner, losses: ArrayLike, values: ArrayLike) -> LearnerTrace:
    """Let *learner* learn *losses*, shape (T, n), predicting before each round.

    Parameters
    ----------
    learner : Learner
        The learner; it goes on from its present state and is changed.
    losses : array_like, shape (T, n)
        The loss of each expert in each round, in nats.
    values : array_like, shape (n,)
        What each expert stands for, e.g. its polling time; predictions are in the same unit.
    """
    table = input_checks.check_loss_table(losses)
    each = input_checks.check_array(values, (learner.n_experts,), "the values of the experts")
    mixture, predictions = np.empty(len(table)), np.empty(len(table))
    for t, row in enumerate(table):
        predictions[t] = learner.predict(each)
        mixture[t] = learner.update(row)
    return LearnerTrace(mixture, predictions)


def best_expert(losses: ArrayLike) -> int:
    """Return the expert with the least total loss, the best one in hindsight."""
    return int(input_checks.check_loss_table(losses).sum(axis=0).argmin())


def comparator_losses(losses: ArrayLike, switches: int = 3) -> dict[str, FloatArray]:
    """Return the cumulative loss of every comparator, shape (T,) each, in nats.

    ``best-expert`` is the best fixed one of the whole run; ``best-so-far`` the least cumulative loss of any
    expert up to each round; ``best-switching`` the best sequence with at most *switches* switches in the
    run; ``best-each-round`` the least loss of each round; ``best-rate`` Fixed-share at alpha*.

    Parameters
    ----------
    losses : array_like, shape (T, n)
        The loss of each expert in each round, in nats.
    switches : int
        The number of switches that the switching comparator is allowed, at least 0.
    """
    table = input_checks.check_loss_table(losses)
    totals = table.cumsum(axis=0)
    sequence = best_switching(table, switches).experts(switches)
    tracker = FixedShare(table.shape[1], best_rate(table).alpha)
    return {
        "best-expert": totals[:, best_expert(table)],
        "best-so-far": totals.min(axis=1),
        "best-switching": table[np.arange(len(table)), sequence].cumsum(),
        "best-each-round": table.min(axis=1).cumsum(),
        "best-rate": np.cumsum([tracker.update(row) for row in table]),
    }


def regrets(suffered: ArrayLike, losses: ArrayLike, switches: int = 3) -> dict[str, FloatArray]:
    """Return the regret of a learner after each round against every comparator, shape (T,) each.

    Parameters
    ----------
    suffered : array_like, shape (T,)
        The learner's loss in each round: ``follow(...).mixture`` for regret in nats, or the loss of its
        predictions for regret in the loss's own terms.
    losses : array_like, shape (T, n)
        As for :func:`comparator_losses`.
    switches : int
        As for :func:`comparator_losses`.
    """
    reference = comparator_losses(losses, switches)
    rounds = reference["best-expert"].shape
    paid = np.asarray(suffered, dtype=np.float64)
    if paid.shape != rounds:
        raise InputError(f"the losses suffered have shape {paid.shape}; expected {rounds}, one per round.")
    return {name: paid.cumsum() - total for name, total in reference.items()}
