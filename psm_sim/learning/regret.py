"""Regret against several comparators, as time series.

A learner suffers two losses in each round. The *mixture loss* (thesis, eq. 2.1) is the subject of the theory.
It is -log of the mean of exp(-loss), and never exceeds the weighted mean of the losses. The *loss of the
combined prediction* is the loss at the value of :meth:`Learner.predict`, which is used in practice. If the
loss is convex in this value, it also is at most the weighted mean. Otherwise it can exceed the mean, and no
bound applies. :func:`run_learner` returns the mixture loss, and the predictions at which to evaluate the
other loss.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.learning import input_checks
from psm_sim.learning.learner import Learner
from psm_sim.learning.switching_rate_curve import best_rate
from psm_sim.learning.thesis_learners import FixedShare

Experts = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SwitchingSequences:
    """Best sequences of experts with at most k switches, k = 0, ..., K.

    Attributes
    ----------
    totals : ndarray, shape (K + 1,)
        Cumulative loss of each sequence, in nats. It never increases with k.
    """

    totals: FloatArray
    _ends: Experts = field(repr=False)
    _has_switched: NDArray[np.bool_] = field(repr=False)
    _origins: NDArray[np.integer] = field(repr=False)

    def experts(self, switches: int) -> Experts:
        """Return the best sequence with at most *switches* switches, shape (T,)."""
        if not 0 <= input_checks.check_int(switches, "the number of switches", minimum=0) < self.totals.size:
            raise InputError(
                f"the number of switches must be at most {self.totals.size - 1}, got {switches}."
            )
        k, expert = switches, int(self._ends[switches])
        sequence = np.empty(len(self._has_switched), dtype=np.intp)
        for t in range(len(sequence) - 1, -1, -1):
            sequence[t] = expert
            if self._has_switched[t, k, expert]:
                k -= 1
                expert = int(self._origins[t, k])
        return sequence


def best_switching(losses: ArrayLike, switches: int) -> SwitchingSequences:
    """Find the best expert sequences with at most 0, 1, ..., *switches* switches.

    Dynamic programming over V_t(k, i), the minimum loss of t rounds that end with expert i after at most k
    switches: V_t(k, i) = L(i, t) + min(V_{t-1}(k, i), min_j V_{t-1}(k-1, j)). It takes O(T K n) time and T K
    n bytes, which allow each sequence to be reconstructed.

    Parameters
    ----------
    losses : array_like, shape (T, n)
        Loss of each expert in each round, in nats.
    switches : int
        Maximum number of switches K, at least 0. More than T - 1 switches have no effect.
    """
    table = input_checks.check_loss_table(losses)
    rounds, n = table.shape
    max_switches = input_checks.check_int(switches, "the number of switches", minimum=0)
    has_switched = np.zeros((rounds, max_switches + 1, n), dtype=np.bool_)
    # Use the smallest integer type, because this table and has_switched grow with the number of rounds.
    origins = np.empty((rounds, max_switches + 1), dtype=np.min_scalar_type(n))
    value, rows = np.tile(table[0], (max_switches + 1, 1)), np.arange(max_switches + 1)
    for t in range(1, rounds):
        origin = value.argmin(axis=1)
        origins[t] = origin
        switched_value = value[rows, origin][:-1, None]
        # Strictly less: of two equal sequences, the one without the switch is preferred.
        np.less(switched_value, value[1:], out=has_switched[t, 1:])
        np.minimum(value[1:], switched_value, out=value[1:])
        np.add(value, table[t], out=value)
    ends = value.argmin(axis=1)
    return SwitchingSequences(value[rows, ends], ends, has_switched, origins)


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
