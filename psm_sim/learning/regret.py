"""Regret against several comparators, as time series.

A learner suffers two losses in each round. The *mixture loss* (thesis, eq. 2.1) is the subject of the theory.
It is -log of the mean of exp(-loss), and never exceeds the weighted mean of the losses. The *loss of the
combined prediction* is the loss at the value of :meth:`Learner.predict`, which is used in practice. If the
loss is convex in this value, it also is at most the weighted mean. Otherwise it can exceed the mean, and no
bound applies. :func:`run_learner` returns the mixture loss, and the predictions at which to evaluate the
other loss.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning import input_checks
from psm_sim.learning.best_switching_sequence import best_switching
from psm_sim.learning.learner import Learner
from psm_sim.learning.switching_rate_curve import best_rate
from psm_sim.learning.thesis_learners import FixedShare


class LearnerTrace(NamedTuple):
    """Mixture losses, in nats, and predictions of a learner, shape (T,) each."""

    mixture: FloatArray
    predictions: FloatArray


def run_learner(learner: Learner, losses: ArrayLike, values: ArrayLike) -> LearnerTrace:
    """Run *learner* on *losses*, with a prediction before each round.

    Parameters
    ----------
    learner : Learner
        Learner, which continues from its current state and is changed.
    losses : array_like, shape (T, n)
        Loss of each expert in each round, in nats.
    values : array_like, shape (n,)
        Value of each expert, e.g. its polling time. Predictions have the same unit.
    """
    table = input_checks.check_loss_table(losses)
    expert_values = input_checks.check_array(values, (learner.n_experts,), "the values of the experts")
    mixture, predictions = np.empty(len(table)), np.empty(len(table))
    for t, row in enumerate(table):
        predictions[t] = learner.predict(expert_values)
        mixture[t] = learner.update(row)
    return LearnerTrace(mixture, predictions)


def best_expert(losses: ArrayLike) -> int:
    """Return the expert with the minimum total loss, the best one in hindsight."""
    return int(input_checks.check_loss_table(losses).sum(axis=0).argmin())


def comparator_losses(losses: ArrayLike, switches: int = 3) -> dict[str, FloatArray]:
    """Return the cumulative loss of each comparator, shape (T,) each, in nats.

    The comparators are:

    - ``best-expert``: the best fixed expert of the whole run
    - ``best-so-far``: the minimum cumulative loss of any expert up to each round
    - ``best-switching``: the best sequence with at most *switches* switches
    - ``best-each-round``: the minimum loss of each round
    - ``best-rate``: Fixed-share at alpha*

    Parameters
    ----------
    losses : array_like, shape (T, n)
        Loss of each expert in each round, in nats.
    switches : int
        Maximum number of switches of ``best-switching``, at least 0.
    """
    table = input_checks.check_loss_table(losses)
    totals = table.cumsum(axis=0)
    sequence = best_switching(table, switches).experts(switches)
    best_rate_learner = FixedShare(table.shape[1], best_rate(table).alpha)
    return {
        "best-expert": totals[:, best_expert(table)],
        "best-so-far": totals.min(axis=1),
        "best-switching": table[np.arange(len(table)), sequence].cumsum(),
        "best-each-round": table.min(axis=1).cumsum(),
        "best-rate": np.cumsum([best_rate_learner.update(row) for row in table]),
    }


def regrets(suffered: ArrayLike, losses: ArrayLike, switches: int = 3) -> dict[str, FloatArray]:
    """Return the regret of a learner after each round against each comparator, shape (T,) each.

    Parameters
    ----------
    suffered : array_like, shape (T,)
        Loss of the learner in each round. Use ``run_learner(...).mixture`` for the regret in nats, or the
        losses of the predictions for the regret in units of the loss.
    losses : array_like, shape (T, n)
        Loss of each expert in each round, in nats.
    switches : int
        See :func:`comparator_losses`.
    """
    references = comparator_losses(losses, switches)
    rounds = references["best-expert"].shape
    learner_losses = np.asarray(suffered, dtype=np.float64)
    if learner_losses.shape != rounds:
        raise InputError(
            f"the losses suffered must have shape {rounds}, one per round, got {learner_losses.shape}."
        )
    return {name: learner_losses.cumsum() - total for name, total in references.items()}
