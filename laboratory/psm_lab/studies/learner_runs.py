"""Runs of learners and other policies over the same pages, with the regret of each learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from psm_lab.studies.tasks import Row
from psm_sim.campaign.loss_examination import LearnerRound, LoggedLpsm
from psm_sim.learning import best_rate, best_switching, rate_losses
from psm_sim.network import load_topology
from psm_sim.simulation import Scenario, run_comparison
from psm_sim.simulation.run import Times, page_times_s, run_workload
from psm_sim.simulation.table import Block, measure
from psm_sim.workload import Workload, load_workload

RATES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 0.5)
"""Switching rates of the Fixed-share learners; 0 is Static-expert."""

CURVE = (0.0, *np.logspace(-6, -0.05, 30).tolist())
"""Switching rates at which the loss of Fixed-share is plotted as a curve."""

LEARN_ALPHA, HINDSIGHT = "Learn-alpha", "hindsight"
BOUNDED = tuple(f"bsd:p={p:g}" for p in (0.1, 0.5, 1.0))
FIXED = tuple(f"psm:listen_interval={beacons}" for beacons in range(1, 13))
"""Policies that the studies compare with the learners.

`BOUNDED` has three of the four published values of p, and `FIXED` has the polling times of the experts.
"""


def learner_label(alpha: float | None) -> str:
    """Return the table label of a learner with switching rate *alpha*."""
    if alpha is None:
        return LEARN_ALPHA
    return "Static-expert" if alpha == 0 else f"Fixed-share {alpha:g}"


def gamma_label(gamma: float | None) -> str:
    """Return the table label of a *gamma*."""
    return "published" if gamma is None else f"{gamma:g}"


LEARNERS = tuple(learner_label(alpha) for alpha in (None, *RATES))


def run_policies(trace: str, pages: int, seed: int, gammas: Sequence[float | None] = (None,)) -> list[Row]:
    """Run all policies over the same pages of one seed, and the learners once per gamma of their loss.

    There is one row per policy, and for each gamma a row of offline losses (:data:`HINDSIGHT`). Only rows of
    learners and offline losses have a gamma. A gamma of None is the published one. Regret is in nats of
    mixture loss. It is computed over the learner's own rounds, and over the rounds of Learn-alpha's run so
    that learners can be compared.
    """
    workload, specs = load_workload(trace, pages, seed), (*FIXED, *BOUNDED)
    comparison = run_comparison(specs, Scenario(workload, pages=pages, seed=seed))
    times_s = page_times_s(comparison.always_on.blocks[0])
    switches = len(_schedule(workload)) - 1
    rows = [
        {"policy": spec, "gamma": "", **measure_run(run.blocks[0], workload)}
        for spec, run in zip(specs, comparison.runs, strict=True)
    ]
    for gamma in gammas:
        runs = [logged_run(workload, gamma, alpha, times_s) for alpha in (None, *RATES)]
        losses, hindsight = regrets([rounds for _, rounds in runs], switches)
        learners = [
            {"policy": label, **measure_run(run, workload), **own}
            for label, (run, _), own in zip(LEARNERS, runs, losses, strict=True)
        ]
        rows += [
            {**row, "gamma": gamma_label(gamma)} for row in (*learners, {"policy": HINDSIGHT, **hindsight})
        ]
    return [{"trace": trace, "seed": seed, **row} for row in rows]


def measure_run(run: Block, workload: Workload) -> Row:
    """Return energy and delay per page, slowdown, and power and delay in each regime of the *workload*."""
    pages, values = run.page_columns(), measure(run)
    regimes = np.array(_regimes(workload))
    delays_ms = 1000 * (pages["page_time_s"] - pages["always_on_time_s"])
    spans_s = np.diff(pages["start_s"] + pages["page_time_s"], prepend=0.0)
    energies_j = pages["energy_j"]
    row = {
        "energy_j": values["energy_per_page_j"],
        "slowdown": values["slowdown.mean"],
        "delay_ms": float(delays_ms.mean()),
    }
    for name in dict.fromkeys(regimes.tolist()):
        own = regimes == name
        row[f"power_mw, {name}"] = 1000 * energies_j[own].sum() / spans_s[own].sum()
        row[f"delay_ms, {name}"] = delays_ms[own].mean()
    return row


def _schedule(workload: Workload) -> list[tuple[str, int]]:
    """Return the regimes in turn, each with its pages; ``all`` for traffic without regimes."""
    schedule = workload.parameters.get("schedule", f"all*{len(workload.pages)}")
    segments = (segment.split("*") for segment in schedule.split("+"))
    return [(name, int(pages)) for name, pages in segments]


def _regimes(workload: Workload) -> list[str]:
    """Return the regime of each page."""
    return [name for name, pages in _schedule(workload) for _ in range(pages)]


def logged_run(
    workload: Workload, gamma: float | None, alpha: float | None, times_s: Times | None = None
) -> tuple[Block, list[LearnerRound]]:
    """Run a learner over the pages, and return the rows of the run and the learner's rounds.

    Parameters
    ----------
    workload : Workload
        Source of the pages.
    gamma : float or None
        Parameter of the loss; None uses the published value.
    alpha : float or None
        Switching rate; None uses Learn-alpha.
    times_s : array of float, optional
        Time of each page without power saving, in seconds. Without it no slowdown is measured.
    """
    run = run_workload(LoggedLpsm(gamma=gamma, alpha=alpha), load_topology(), workload, times_s)
    return run, cast(LoggedLpsm, run.policy_state).rounds


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
        For each learner, its regret to the best expert and to the best sequence, over its own rounds.
        ``common`` is its loss in the rounds of Learn-alpha.
    hindsight : dict
        Losses of the best expert, sequence and switching rate in Learn-alpha's rounds, chosen offline, and
        the regret of Fixed-share at each rate of :data:`CURVE`.
    """
    tables = [np.array([one.losses for one in rounds]) for rounds in runs]
    best = [best_switching(table, switches)[[0, -1]].tolist() for table in tables]
    mixtures = [sum(one.mixture for one in rounds) for rounds in runs]
    common, (expert_loss, switching_loss) = tables[0], best[0]
    suffered = rate_losses(common, (*RATES, *CURVE))
    losses = [mixtures[0], *suffered[: len(RATES)].tolist()]
    learners = [
        {
            "rounds": len(table),
            "own_regret": mixture - expert,
            "own_switching_regret": mixture - switching,
            "common": loss,
        }
        for table, mixture, (expert, switching), loss in zip(tables, mixtures, best, losses, strict=True)
    ]
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
    return learners, hindsight


def polling_times(alpha: float | None, scenario: Scenario) -> list[Row]:
    """Run a learner with switching rate *alpha* at the published gamma, and return one row per round.

    The columns are the learner, the time in minutes, the polling time in ms and the regime.
    """
    workload = scenario.workload()
    run, rounds = logged_run(workload, None, alpha)
    ends_s = run.pages["start_s"] + run.pages["page_time_s"]
    pages = np.searchsorted(ends_s, [one.time_s for one in rounds])
    regimes = _regimes(workload)
    return [
        {
            "learner": learner_label(alpha),
            "minutes": one.time_s / 60,
            "polling_ms": one.polling_ms,
            "regime": regimes[min(page, len(regimes) - 1)],
        }
        for one, page in zip(rounds, pages.tolist(), strict=True)
    ]
