"""Rounds that a learner learns in a run, and the regret of several learners over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from psm_sim.campaign.loss_comparison import LearnerRound, LoggedLpsm
from psm_sim.learning import best_rate, best_switching, rate_losses
from psm_sim.network import load_topology
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import prepare
from psm_sim.workload import Workload


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
    run = prepare(LoggedLpsm(gamma=gamma, alpha=alpha), load_topology()).execute(workload.pages, times_s)
    return run, cast(LoggedLpsm, run.policy_state).rounds


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
    best = [best_switching(table, switches).totals[[0, -1]].tolist() for table in tables]
    learners = [_own_regret(rounds, *totals) for rounds, totals in zip(runs, best, strict=True)]
    common, (expert_loss, switching_loss) = tables[0], best[0]
    suffered = rate_losses(common, (*RATES, *CURVE))
    losses = [learners[0]["mixture"], *suffered[: len(RATES)].tolist()]
    rate = best_rate(common)
    hindsight = {
        "rounds": len(common),
        "best_expert": expert_loss,
        "best_switching": switching_loss,
        "best_rate": rate.loss,
        "alpha": rate.alpha,
        "each_round": common.min(axis=1).sum(),
        "curve": suffered[len(RATES) :] - expert_loss,
    }
    return [own | {"common": loss} for own, loss in zip(learners, losses, strict=True)], hindsight


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
