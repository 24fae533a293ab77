"""Rounds that a learner learns in a run, and the regret of several learners over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from psm_sim.campaign.lpsm_rounds import LearnerRound, LoggedLpsm
from psm_sim.common.array_types import FloatArray
from psm_sim.learning import FixedShare, best_rate, rate_losses
from psm_sim.network import load_topology
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import prepare
from psm_sim.workload import Workload


class ZeroRateFixedShare(FixedShare):
    """Fixed-share with a switching rate of 0, which shares no weight.

    The result is bit-for-bit identical to :class:`~psm_sim.learning.FixedShare` in a third of the time.
    """

    def __init__(self, n_experts: int) -> None:
        super().__init__(n_experts, 0.0)
        self._log_weights: FloatArray = np.full(n_experts, -math.log(n_experts))

    def _learn(self, relative: FloatArray) -> float:
        self._log_weights += relative
        evidence = np.logaddexp.reduce(self._log_weights)
        self._log_weights -= evidence
        np.exp(self._log_weights, self._weights)
        return -float(evidence)


class _LoggedLpsm(LoggedLpsm):
    """LPSM that records each learned round, with a faster learner at a switching rate of 0."""

    def start(self, beacon_s: float) -> None:
        """Start without rounds; *beacon_s* as for :class:`~psm_sim.policies.Policy`."""
        super().start(beacon_s)
        if self.alpha == 0:
            self.learner = ZeroRateFixedShare(self.times_ms.size)


def logged_run(
    workload: Workload, gamma: float | None, alpha: float | None, times_s: Sequence[float] | None = None
) -> tuple[Result, list[LearnerRound]]:
    """Run a learner over the pages and return the result and the learned rounds.

    Parameters
    ----------
    workload : Workload
        Source of the pages.
    gamma : float or None
        Parameter of the loss; None uses the published value.
    alpha : float or None
        Switching rate; None uses Learn-alpha.
    times_s : sequence of float, optional
        Time of each page without power saving, in seconds. Without it no slowdown is measured.
    """
    run = prepare(_LoggedLpsm(gamma=gamma, alpha=alpha), load_topology()).execute(workload.pages, times_s)
    return run, cast(_LoggedLpsm, run.policy_state).rounds


RATES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 0.5)
"""Switching rates of the Fixed-share learners; 0 is Static-expert."""

CURVE = (0.0, *np.logspace(-6, -0.05, 30).tolist())
"""Switching rates at which the loss of Fixed-share is plotted as a curve."""


def regrets(
    runs: Sequence[Sequence[LearnerRound]], switches: int
) -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Return the losses of each learner and the optimal losses in the rounds of Learn-alpha, in nats.

    Parameters
    ----------
    runs : sequence of sequence of LearnerRound
        Rounds of Learn-alpha's run, followed by those of the learners with :data:`RATES`.
    switches : int
        Maximum number of switches of the best sequence of experts.

    Returns
    -------
    learners : list of dict
        For each learner, the mixture loss and the regrets over its own rounds to the best expert and to the
        best sequence. ``common`` is the loss in the rounds of Learn-alpha.
    hindsight : dict
        Losses of the best expert, sequence and switching rate in Learn-alpha's rounds, chosen offline, and
        the regret of Fixed-share at each rate of :data:`CURVE`.
    """
    tables = [np.array([one.losses for one in rounds]) for rounds in runs]
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
    """Return the minimum losses without switches and with at most *switches* switches, in nats.

    This is the dynamic programming of :func:`~psm_sim.learning.best_switching` for m learners in one pass.

    Parameters
    ----------
    tables : sequence of ndarray, shape (rounds, n)
        Loss of each expert in each round, one array per learner.
    switches : int
        Maximum number of switches, at least 0.

    Returns
    -------
    ndarray, shape (m, 2)
        Minimum losses of each learner, in nats.
    """
    longest, n = max(map(len, tables)), tables[0].shape[1]
    # Shorter runs are padded with rounds of loss 0, which do not change a minimum.
    losses = np.zeros((longest, n, 1, len(tables)))
    for learner, table in enumerate(tables):
        losses[: len(table), :, 0, learner] = table
    value: FloatArray = np.repeat(losses[0], switches + 1, axis=1)
    switched, minimum = value[:, 1:], np.empty(value.shape[1:])
    for loss in losses[1:]:
        np.minimum.reduce(value, axis=0, out=minimum)
        np.minimum(switched, minimum[:-1], out=switched)
        np.add(value, loss, out=value)
    totals: FloatArray = value.min(axis=0)[[0, -1]].T
    return totals


def _own_regret(
    rounds: Sequence[LearnerRound], best_expert: float, best_switching: float
) -> dict[str, float]:
    suffered = sum(one.mixture for one in rounds)
    return {
        "rounds": len(rounds),
        "mixture": suffered,
        "own_regret": suffered - best_expert,
        "own_switching_regret": suffered - best_switching,
    }


def _at_rates(losses: FloatArray, rates: Sequence[float]) -> FloatArray:
    """Return the loss of Fixed-share at each of the *rates*. A rate of 0 is Bayes' rule."""
    alphas = np.array(rates)
    totals = np.full(alphas.size, _bayes_loss(losses))
    totals[alphas > 0] = rate_losses(losses, alphas[alphas > 0])
    return totals


def _bayes_loss(losses: FloatArray) -> float:
    minimum, learner = losses.min(axis=1), ZeroRateFixedShare(losses.shape[1])
    return float(sum(map(learner.update, losses - minimum[:, None])) + minimum.sum())
