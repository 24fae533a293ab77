"""Tasks that run the policies over the pages of one seed, and measure the learners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from psm_sim.campaign.loss_comparison import LearnerRound, LoggedLpsm
from psm_sim.common.hashing import digest_of
from psm_sim.learning import best_rate, best_switching, rate_losses
from psm_sim.network import load_topology
from psm_sim.simulation.policy_comparison import compare_runs
from psm_sim.simulation.result import Result
from psm_sim.simulation.run import page_times_s, prepare
from psm_sim.simulation.scenario import DigestCache, Scenario
from psm_sim.workload import Workload, load_workload
from psm_sim.workload.regimes import ShiftingWorkload

RATES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 0.5)
"""Switching rates of the Fixed-share learners; 0 is Static-expert."""

CURVE = (0.0, *np.logspace(-6, -0.05, 30).tolist())
"""Switching rates at which the loss of Fixed-share is plotted as a curve."""

LEARN_ALPHA = "Learn-alpha"
BOUNDED = tuple(f"bsd:p={p:g}" for p in (0.1, 0.5, 1.0))
FIXED = tuple(f"psm:listen_interval={beacons}" for beacons in range(1, 13))


def learner_label(alpha: float | None) -> str:
    """Return the name of a learner with switching rate *alpha* in tables."""
    if alpha is None:
        return LEARN_ALPHA
    return "Static-expert" if alpha == 0 else f"Fixed-share {alpha:g}"


def setting(gamma: float | None) -> str:
    """Return the name of a *gamma* in tables."""
    return "published" if gamma is None else f"{gamma:g}"


LEARNERS = tuple(learner_label(alpha) for alpha in (None, *RATES))


@dataclass(frozen=True)
class NonStationaryTask:
    """Task that runs all policies over the same pages of one seed, for each gamma of the learners' loss.

    A gamma of None is the published one. Regret is in nats of mixture loss. It refers to a learner's own
    rounds and also to the rounds of Learn-alpha's run, so that learners can be compared.
    """

    kind: ClassVar[str] = "policies"
    labels: ClassVar[Mapping[str, Any]] = {}

    trace: str
    pages: int
    seed: int
    gammas: tuple[float | None, ...] = (None,)

    @property
    def weight(self) -> int:
        """Number of pages of all runs."""
        return self.pages * (1 + len(FIXED) + len(BOUNDED) + len(LEARNERS) * len(self.gammas))

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that determines the rows."""
        return digest_of(
            [Scenario(self.trace, pages=self.pages, seed=self.seed).key(cache=cache), self.gammas]
        )

    def run(self) -> list[dict[str, Any]]:
        """Run the policies; return one row per policy, and one row of offline losses per gamma."""
        workload = load_workload(self.trace, self.pages, self.seed)
        specs = (*FIXED, *BOUNDED)
        fixed = compare_runs(specs, Scenario(workload, pages=self.pages, seed=self.seed))
        rows = [
            self._row(spec) | measure_run(run, workload) for spec, run in zip(specs, fixed.runs, strict=True)
        ]
        optima = []
        for gamma in self.gammas:
            learners, optimum = self._learners(gamma, workload, page_times_s(fixed.always_on))
            rows += learners
            optima.append(optimum)
        return rows + optima

    def _learners(
        self, gamma: float | None, workload: Workload, times_s: Sequence[float]
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Run all learners; return their rows and the offline losses.

        *times_s* are the page times without power saving; *gamma* and *workload* as for :meth:`run`.
        """
        switches = len(workload.schedule) - 1 if isinstance(workload, ShiftingWorkload) else 0
        runs = [logged_run(workload, gamma, alpha, times_s) for alpha in (None, *RATES)]
        losses, optimum = regrets([rounds for _, rounds in runs], switches)
        rows = [
            self._row(label, gamma) | measure_run(run, workload) | own
            for label, (run, _), own in zip(LEARNERS, runs, losses, strict=True)
        ]
        return rows, self._row("hindsight", gamma) | optimum

    def _row(self, policy: str, gamma: float | None = None) -> dict[str, Any]:
        return {"trace": self.trace, "seed": self.seed, "gamma": setting(gamma), "policy": policy}


def measure_run(run: Result, workload: Any) -> dict[str, Any]:
    """Return energy and delay per page, slowdown, and power and delay in each regime.

    *run* is the result and *workload* its pages.
    """
    records = run.page_records
    delays_ms = np.array([1000 * (page.page_time_s - page.always_on_time_s) for page in records])
    names = (
        workload.regime_of_each_page() if isinstance(workload, ShiftingWorkload) else ["all"] * len(records)
    )
    ends_s = [page.start_s + page.page_time_s for page in records]
    spans_s = np.diff([0.0, *ends_s])
    energies_j, regimes = np.array([page.energy_j for page in records]), np.array(names)
    return {
        "energy_j": run.energy_per_page_j,
        "slowdown": run.slowdown.mean,
        "delay_ms": float(delays_ms.mean()),
        "power_mw": {name: 1000 * energies_j[regimes == name].sum() / spans_s[regimes == name].sum()
                     for name in dict.fromkeys(names)},
        "regime_delay_ms": {name: delays_ms[regimes == name].mean() for name in dict.fromkeys(names)},
    }  # fmt: skip


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


@dataclass(frozen=True)
class TimelineTask:
    """Task that runs a learner at the published gamma, with one row per round.

    Parameters
    ----------
    alpha : float or None
        Switching rate; None uses Learn-alpha.
    scenario : Scenario
        Pages of a trace with regimes.
    """

    kind: ClassVar[str] = "timeline"
    labels: ClassVar[Mapping[str, Any]] = {}

    alpha: float | None
    scenario: Scenario

    @property
    def weight(self) -> int:
        """Number of pages."""
        return self.scenario.pages

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that determines the rows."""
        return digest_of([self.kind, self.alpha, self.scenario.key(cache=cache)])

    def run(self) -> list[dict[str, Any]]:
        """Return one row per round with the learner, time in minutes, polling time in ms and regime."""
        workload = self.scenario.workload()
        run, rounds = logged_run(workload, None, self.alpha)
        ends_s = [page.start_s + page.page_time_s for page in run.page_records]
        pages = np.searchsorted(ends_s, [one.time_s for one in rounds])
        names = workload.regime_of_each_page() if isinstance(workload, ShiftingWorkload) else []
        return [
            {
                "learner": learner_label(self.alpha),
                "minutes": one.time_s / 60,
                "polling_ms": one.polling_ms,
                "regime": names[min(page, len(names) - 1)] if names else "all",
            }
            for one, page in zip(rounds, pages.tolist(), strict=True)
        ]
