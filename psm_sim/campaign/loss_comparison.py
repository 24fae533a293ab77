"""Comparison of losses of LPSM: energy against slowdown over gamma, regret, and the cost of a nat.

Every loss is simulated on the same pages at several values of its ``gamma``, beside the baselines, Bounded
Slowdown and ``anticipate``. Each loss is also examined at its default ``gamma`` on the pages of the first
seed: the weights and polling times of the learner, its regret, and what a nat of the loss costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from psm_sim.campaign.offline_pareto_frontier import ParetoCorner, pareto_frontier
from psm_sim.common.array_types import FloatArray
from psm_sim.common.component_spec import Spec, class_file
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import values_of
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.run_many import run_many
from psm_sim.common.summary_stats import Interval, confidence_interval, significant_differences
from psm_sim.learning import LearnAlpha, best_rate, best_switching, learn_alpha_bound
from psm_sim.losses import LOSSES, Context, Loss, make_loss
from psm_sim.losses.user_loss_guard import guarded_loss, takes_context
from psm_sim.network import Topology
from psm_sim.policies import Poll, Rest
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation import BASELINES, Comparison, References, Result, Scenario, run_comparison
from psm_sim.simulation.run import Times, page_times_s, run_workload
from psm_sim.simulation.table import Block, Row, measure
from psm_sim.workload import Workload
from psm_sim.workload.messages import NO_MESSAGES

if TYPE_CHECKING:
    import pandas as pd


GAMMA_FACTORS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
"""Default values of gamma, relative to the default of the loss."""

OTHERS = (Spec("bsd"), Spec("anticipate"))
"""Policies that are shown beside the losses, in addition to the baselines."""

_EXAMINED_PAGES = 40
"""Maximum number of pages on which each loss is examined."""

_SWITCHES_PER_PAGE = 2
"""Switches of the best sequence of polling times: to a short one when a page is requested, and back."""


class NatCost(NamedTuple):
    """Cost of one nat of a loss, from runs with each polling time fixed.

    The cumulative loss per page is fitted by least squares as ``a + b * energy + c * delay``.

    Attributes
    ----------
    joules : float
        Energy that is worth one nat, 1 / b; nan if the loss does not increase with energy.
    seconds : float
        Added page time that is worth one nat, 1 / c; nan if the loss does not increase with it.
    fit : float
        Coefficient of determination R^2 of the fit.
    """

    joules: float
    seconds: float
    fit: float

    @property
    def price_w(self) -> float:
        """Price of delay that the loss implies, in watts: the energy that is worth one second."""
        return self.joules / self.seconds


class Regret(NamedTuple):
    """Losses over the rounds of one run, in nats.

    Attributes
    ----------
    rounds : int
        Number of rounds.
    mixture : float
        Mixture loss of the learner.
    used : float
        Loss at the polling times that the station used, in whole beacons.
    best_fixed, best_fixed_ms : float
        Loss of the best fixed polling time, and this time in ms.
    best_switching : float
        Loss of the best sequence of polling times with at most ``switches`` switches.
    switches : int
        Maximum number of switches, two per page.
    over_best_rate : float
        Mixture loss minus that of Fixed-share at the best switching rate.
    bound : float
        Bound of Corollary 1 on ``over_best_rate``.
    """

    rounds: int
    mixture: float
    used: float
    best_fixed: float
    best_fixed_ms: float
    best_switching: float
    switches: int
    over_best_rate: float
    bound: float


class PageLoad(NamedTuple):
    """Learner during one page load.

    Attributes
    ----------
    page : dict
        Row of the page, as in :attr:`Block.pages`.
    times_s : ndarray, shape (k,)
        Times of the rounds from one second before the request on, in seconds.
    weights : ndarray, shape (k, n)
        Weights of the experts after each round.
    polling_ms : ndarray, shape (k,)
        Polling time after each round, in ms.
    """

    page: Row
    times_s: FloatArray
    weights: FloatArray
    polling_ms: FloatArray


class Examination(NamedTuple):
    """Examination of a loss at its default gamma, on at most 40 pages of the first seed without messages.

    ``is_constant`` is whether the loss was the same for all polling times in every round.
    """

    times_ms: FloatArray
    is_constant: bool
    regret: Regret
    page_load: PageLoad
    nat: NatCost


@dataclass(frozen=True)
class LossCurve:
    """Results of one loss.

    Attributes
    ----------
    name : str
        Name of the loss in tables and figures.
    loss : str
        The loss without its gamma, as text.
    gammas : tuple of float
        Values of gamma, ascending; a single nan if the loss has no gamma.
    default_gamma : float
        Default of gamma, or the gamma of the given price of delay; nan if the loss has none.
    runs : tuple of Result
        Result at each gamma.
    examination : Examination
        Examination at the default gamma.
    """

    name: str
    loss: str
    gammas: tuple[float, ...]
    default_gamma: float
    runs: tuple[Result, ...]
    examination: Examination

    @property
    def default_run(self) -> Result:
        """Result at the gamma that is closest to the default."""
        if len(self.runs) == 1:
            return self.runs[0]
        return self.runs[int(np.argmin(np.abs(np.log(np.array(self.gammas) / self.default_gamma))))]


class LossDifference(NamedTuple):
    """Difference of a loss from the first one, from the differences with each seed, on the same pages.

    Attributes
    ----------
    name : str
        Name of the loss.
    energy_percent, slowdown : Interval
        Differences of the energy, in percent of the first loss, and of the slowdown.
    energy_differs, delay_differs : bool
        Whether the differences are significant, with Holm's correction for all pairs of losses.
    """

    name: str
    energy_percent: Interval
    energy_differs: bool
    slowdown: Interval
    delay_differs: bool


@dataclass(frozen=True)
class LossComparison:
    """Comparison of losses, as returned by :func:`psm_sim.compare_losses`.

    Attributes
    ----------
    curves : tuple of LossCurve
        Results of each loss.
    comparison : Comparison
        All runs with their baselines.
    frontier : tuple of ParetoCorner
        Energy and slowdown of the offline optimum.
    """

    curves: tuple[LossCurve, ...]
    comparison: Comparison
    frontier: tuple[ParetoCorner, ...]

    @property
    def others(self) -> tuple[Result, ...]:
        """Results of the policies without a loss, baselines first."""
        shown = {id(run) for curve in self.curves for run in curve.runs}
        return tuple(run for run in self.comparison.shown if id(run) not in shown)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """DataFrame with one row per seed, loss and gamma, and one per seed and other policy.

        Rows of one seed have the same pages, so differences of losses are paired by seed.
        """
        import pandas as pd

        runs = [
            (curve.name, gamma, run)
            for curve in self.curves
            for gamma, run in zip(curve.gammas, curve.runs, strict=True)
        ]
        runs += [("", nan, run) for run in self.others]
        return pd.DataFrame(
            {"loss": loss, "gamma": gamma, "policy": run.policy, "seed": seed}
            | {name: each[name] for name in _MEASURES}
            for loss, gamma, run in runs
            for seed, each in enumerate(run.replicates, self.comparison.scenario.seed)
        )

    def differences(self) -> list[LossDifference]:
        """Return how each further loss differs from the first one, all at their default gammas."""
        runs = [curve.default_run for curve in self.curves]
        energies, slowdowns = (
            np.array([[each[name] for each in run.replicates] for run in runs])
            for name in ("energy_per_page_j", "slowdown.mean")
        )
        energy_differs, delay_differs = significant_differences(energies), significant_differences(slowdowns)
        return [
            LossDifference(
                self.curves[index].name,
                confidence_interval(100 * (energies[index] - energies[0]) / energies[0].mean()),
                bool(energy_differs[0, index]),
                confidence_interval(slowdowns[index] - slowdowns[0]),
                bool(delay_differs[0, index]),
            )
            for index in range(1, len(runs))
        ]


_MEASURES = ("energy_per_page_j", "page_time_s.mean", "slowdown.mean")


def compare_losses(
    losses: Sequence[str],
    trace: Any = "ucb",
    topology: Any = "three-node",
    pages: int = 100,
    seed: int = 1,
    settings: Mapping[str, Any] | None = None,
    *,
    gammas: Sequence[float] | None = None,
    price_w: float | None = None,
    replications: int = 5,
    workers: int | None = None,
) -> LossComparison:
    """Simulate LPSM with each loss at several values of gamma, and examine each loss.

    Parameters
    ----------
    losses : sequence of str
        Losses, at least one: names, formulas or ``FILE.py:CLASS``, with optional parameters.
    trace, topology, pages, seed, settings, workers
        As for :func:`psm_sim.compare`. The trace must have page views of one client.
    gammas : sequence of float, optional
        Values of gamma. By default 1/16 to 16 times the default of each loss.
    price_w : float, optional
        Price of delay in watts, instead of *gammas*. The default gamma of each loss is multiplied by the
        ratio of this price to the price that the loss implies.
    replications : int
        Number of consecutive seeds, beginning with *seed*.

    Returns
    -------
    LossComparison
        The results. ``.frame`` is a DataFrame of all curves.

    Raises
    ------
    InputError
        If an argument is invalid. No simulation has started then.
    """
    scenario = Scenario(trace, topology, pages, seed, dict(settings or {}))
    return simulate_losses(losses, scenario, gammas, price_w, replications, workers)


def simulate_losses(
    losses: Sequence[str],
    scenario: Scenario,
    gammas: Sequence[float] | None = None,
    price_w: float | None = None,
    replications: int = 5,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> LossComparison:
    """Simulate LPSM with each loss at several values of gamma, and examine each loss.

    Parameters
    ----------
    losses, gammas, price_w, replications, workers
        As for :func:`compare_losses`.
    scenario : Scenario
        Pages, topology and first seed.
    progress : Progress
        Called after each seed.

    Raises
    ------
    InputError
        If an argument is invalid, or the scenario has several stations, faults or no pages.
    """
    topology, workload = scenario.resolve_topology(), scenario.workload()
    if topology.stations:
        raise InputError(
            f"topology {topology.name} has several stations; losses are compared on one station."
        )
    if topology.can_fail:
        raise InputError(
            "losses are compared on pages that cannot fail; remove the faults and browser.max_page_s from the"
            " topology."
        )
    if not any(page.objects for page in workload.pages):
        raise InputError(f"trace {scenario.trace_name} has no pages; losses are compared on page views.")
    if price_w is not None and gammas is not None:
        raise InputError("gamma and price both set gamma; give one of them.")
    grids = _gamma_grids(losses, gammas)
    examined = replace(workload, pages=workload.pages[:_EXAMINED_PAGES], messages=NO_MESSAGES)
    times_s = page_times_s(run_workload("always-on", topology, examined))
    times_ms = Lpsm().times_ms
    fixed = list(run_many(partial(_run_fixed, topology, examined, times_s), times_ms.tolist(), workers))
    if price_w is not None:
        grids = {name: _at_price(name, grid, price_w, times_ms, fixed) for name, grid in grids.items()}
    specs = {name: [_lpsm(loss, gamma) for gamma in values] for name, (loss, values, _) in grids.items()}
    policies = [*OTHERS, *(spec for each in specs.values() for spec in each)]
    comparison = run_comparison(
        policies,
        scenario,
        replications,
        progress,
        workers,
        References(BASELINES, BASELINES[-1:]),
    )
    runs = {run.policy: run for run in comparison.runs}
    defaults = [_lpsm(loss, default) for loss, _, default in grids.values()]
    examine = partial(_examine, topology, examined, times_s, fixed)
    examinations = list(run_many(examine, defaults, workers))
    frontier = pareto_frontier(comparison.workloads, topology, workers)
    curves = [
        LossCurve(name, loss, values, default, tuple(runs[str(spec)] for spec in specs[name]), examination)
        for (name, (loss, values, default)), examination in zip(grids.items(), examinations, strict=True)
    ]
    return LossComparison(tuple(curves), comparison, tuple(frontier))


_Grid = tuple[str, tuple[float, ...], float]
"""A loss without its gamma, the values of gamma, and the default gamma."""


def _gamma_grids(losses: Sequence[str], gammas: Sequence[float] | None) -> Mapping[str, _Grid]:
    """Return the grid of each loss by its name."""
    if isinstance(losses, str) or not losses:
        raise InputError(f"losses must be a list of at least one loss, got {losses!r}.")
    grids: dict[str, _Grid] = {}
    for text in losses:
        default = values_of(make_loss(text)).get("gamma")
        spec = Spec.parse(text, "loss") if LOSSES.knows(text) else None
        loss = text
        if spec is not None:
            loss = str(Spec(spec.name, tuple(item for item in spec.items if item[0] != "gamma")))
        name = _short_name(loss)
        if name in grids:
            raise InputError(
                f"loss {name} is given twice; each loss is simulated at several values of gamma."
            )
        if default is None:
            if gammas is not None:
                raise InputError(f"gamma has no effect on loss {name}, which has no parameter gamma.")
            grids[name] = loss, (nan,), nan
        else:
            values = gammas if gammas is not None else [factor * default for factor in GAMMA_FACTORS]
            grids[name] = loss, tuple(sorted(set(values))), float(default)
    return grids


def _short_name(loss: str) -> str:
    """Return the name of a loss. A class in a file is named without its path."""
    spec = Spec.parse(loss, "loss") if LOSSES.knows(loss) else None
    path_and_class = class_file(spec.name) if spec is not None else None
    if spec is None or path_and_class is None:
        return loss
    return str(Spec(path_and_class[1], spec.items))


def _lpsm(loss: str, gamma: float) -> Spec:
    spec = Spec("lpsm").with_("loss", loss)
    return spec if np.isnan(gamma) else spec.with_("gamma", repr(float(gamma)))


def _at_price(
    name: str, grid: _Grid, price_w: float, times_ms: FloatArray, fixed: Sequence[_FixedRun]
) -> _Grid:
    """Return the grid with every gamma scaled so that the default implies the price of delay."""
    loss, gammas, default = grid
    if np.isnan(default):
        raise InputError(f"price has no effect on loss {name}, which has no parameter gamma.")
    factor = price_w / _nat_cost(make_loss(loss, default), times_ms, fixed).price_w
    if np.isnan(factor):
        raise InputError(f"loss {name} implies no price of delay; choose its gamma instead of a price.")
    return loss, tuple(factor * gamma for gamma in gammas), factor * default


_Observed = tuple[Poll, tuple[Context, ...]]
"""Observation at the end of a doze, and its context."""


class _FixedRun(NamedTuple):
    """Run of LPSM with one fixed polling time: its pages and polls, and means per page."""

    pages: int
    polls: list[_Observed]
    energy_j: float
    delay_s: float


class LearnerRound(NamedTuple):
    """Learning round with its time, losses and the next prediction.

    ``losses`` are the losses of the experts, shape (n,), and ``mixture`` is the loss of their mixture.
    """

    time_s: float
    losses: FloatArray
    mixture: float
    polling_ms: float


class LoggedLpsm(Lpsm):
    """LPSM that records each learned round. It decides at each poll."""

    def start(self, beacon_s: float) -> None:
        """Start without rounds; *beacon_s* as for :class:`~psm_sim.policies.Policy`."""
        super().start(beacon_s)
        self.rounds: list[LearnerRound] = []

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the decision of LPSM, and record the round if there is a poll to learn from.

        *now_s*, *since_uplink_s* and *poll* as for :class:`~psm_sim.policies.Policy`.
        """
        self._now_s = now_s
        return super().rest(now_s, since_uplink_s, poll)

    def _learn(self, poll: Poll) -> None:
        losses = self.losses(poll)
        mixture = self.learner.update(losses)
        self._predict()
        self.rounds.append(LearnerRound(self._now_s, losses, mixture, self.polling_ms))


class _WeightLog(LoggedLpsm):
    """LPSM that also records the loss of the polling time used, and the weights after each round."""

    def start(self, beacon_s: float) -> None:
        """Start without records; *beacon_s* as for :class:`~psm_sim.policies.Policy`."""
        super().start(beacon_s)
        self.used: list[float] = []
        self.weights: list[FloatArray] = []

    def _learn(self, poll: Poll) -> None:
        used_ms = np.array([1000 * self.beacon_s * self._beacons])
        self.used.append(self._loss(poll, used_ms, *self.loss_context(poll)).item(0))
        super()._learn(poll)
        self.weights.append(self.learner.weights)


class _FixedTime(LoggedLpsm):
    """LPSM that always predicts the same polling time, and records its polls."""

    fixed_ms = 100.0

    def start(self, beacon_s: float) -> None:
        """Start without polls; *beacon_s* as for :class:`~psm_sim.policies.Policy`."""
        self.polls: list[_Observed] = []
        self._takes_context = True
        super().start(beacon_s)

    def _learn(self, poll: Poll) -> None:
        self.polls.append((poll, self.loss_context(poll)))

    def _predict(self) -> None:
        self.polling_ms = self.fixed_ms
        self._beacons = max(1, round(self.fixed_ms / (1000 * self.beacon_s)))


def _run_fixed(topology: Topology, workload: Workload, times_s: Times, fixed_ms: float) -> _FixedRun:
    """Run the pages with one polling time."""
    policy = _FixedTime()
    policy.fixed_ms = fixed_ms
    block = run_workload(policy, topology, workload, times_s)
    delay_s = float(np.mean(page_times_s(block) - times_s))
    polls = cast(_FixedTime, block.policy_state).polls
    return _FixedRun(len(workload.pages), polls, measure(block)["energy_per_page_j"], delay_s)


def _logged(spec: Spec) -> _WeightLog:
    parameters = dict(spec.items)
    gamma = float(parameters["gamma"]) if "gamma" in parameters else None
    return _WeightLog(loss=parameters["loss"], gamma=gamma)


def _examine(
    topology: Topology,
    workload: Workload,
    times_s: Times,
    fixed: Sequence[_FixedRun],
    spec: Spec,
) -> Examination:
    """Examine the loss of *spec* on the pages, whose times without power saving are *times_s*."""
    block = run_workload(_logged(spec), topology, workload, times_s)
    log, pages = cast(_WeightLog, block.policy_state), len(workload.pages)
    return Examination(
        log.times_ms,
        not any(np.ptp(each.losses) for each in log.rounds),
        _regret(log, pages),
        _page_load(log, block),
        _nat_cost(make_loss(log.loss, log.gamma), log.times_ms, fixed),
    )


def _regret(log: _WeightLog, pages: int) -> Regret:
    losses = np.array([each.losses for each in log.rounds])
    mixture = sum(each.mixture for each in log.rounds)
    totals, switches = losses.sum(axis=0), _SWITCHES_PER_PAGE * pages
    rate = best_rate(losses)
    learner = cast(LearnAlpha, log.learner)
    return Regret(
        rounds=len(losses),
        mixture=mixture,
        used=sum(log.used),
        best_fixed=float(totals.min()),
        best_fixed_ms=float(log.times_ms[totals.argmin()]),
        best_switching=float(best_switching(losses, switches)[-1]),
        switches=switches,
        over_best_rate=mixture - rate.loss,
        bound=learn_alpha_bound(len(losses), rate.alpha, learner.rates),
    )


_BEFORE_S, _AFTER_S = 1.0, 3.0
"""Time before the request and after the end of the page that is shown, in seconds."""


def _page_load(log: _WeightLog, block: Block) -> PageLoad:
    """Return the learner during the page that is longest without power saving."""
    page = block.page(1 + int(block.pages["always_on_time_s"].argmax()))
    times_s = np.array([each.time_s for each in log.rounds])
    start_s, end_s = page["start_s"], page["start_s"] + page["page_time_s"]
    shown = (times_s >= start_s - _BEFORE_S) & (times_s <= end_s + _AFTER_S)
    return PageLoad(
        page,
        times_s[shown],
        np.array(log.weights)[shown],
        np.array([each.polling_ms for each in log.rounds])[shown],
    )


def _nat_cost(loss: Loss, times_ms: FloatArray, fixed: Sequence[_FixedRun]) -> NatCost:
    """Fit the loss of the fixed polling times by their energy and delay."""
    nats = np.array(
        [_total_loss(loss, times_ms, index, run.polls) / run.pages for index, run in enumerate(fixed)]
    )
    columns = np.array([[1.0, run.energy_j, run.delay_s] for run in fixed])
    slopes = np.linalg.lstsq(columns, nats)[0]
    variance = float(np.var(nats))
    fit = 1 - float(np.var(nats - columns @ slopes)) / variance if variance else nan
    joules, seconds = (1 / float(slope) if slope > 0 else nan for slope in slopes[1:])
    return NatCost(joules, seconds, fit)


def _total_loss(loss: Loss, times_ms: FloatArray, index: int, polls: Sequence[_Observed]) -> float:
    """Return the loss of the expert with number *index* over the polls of its own run, in nats."""
    guarded, total = guarded_loss(loss), 0.0
    guarded.start()
    for poll, context in polls:
        total += guarded(poll, times_ms, *(context if takes_context(loss) else ())).item(index)
        guarded.observe(poll)
    return total
