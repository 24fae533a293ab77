"""Examination of a loss of LPSM: learning on some pages, regret, and the energy and delay of one nat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from typing import NamedTuple, cast

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.run_many import run_many
from psm_sim.learning import LearnAlpha, best_rate, best_switching, learn_alpha_bound
from psm_sim.losses import Context, Loss, make_loss
from psm_sim.losses.user_loss_guard import guarded_loss, takes_context
from psm_sim.network import Topology
from psm_sim.policies import Poll, Rest
from psm_sim.policies.helpers.page_delays import ActivityPeriod, PageDelays
from psm_sim.policies.lpsm import Lpsm
from psm_sim.simulation.run import Times, page_times_s, run_workload
from psm_sim.simulation.table import Block, Row, measure
from psm_sim.workload import Workload
from psm_sim.workload.messages import NO_MESSAGES

_EXAMINED_PAGES = 40
"""Maximum number of pages on which each loss is examined."""

_SWITCHES_PER_PAGE = 2
"""Switches per page in the best sequence of polling times.

The first switches to a short polling time at the request of a page, and the second switches back.
"""

_BEFORE_S, _AFTER_S = 1.0, 3.0
"""Time that a timeline shows before the request and after the end of its page, in seconds."""

_MAX_STEPS, _TOLERANCE = 20, 1e-6
"""Maximum number of secant steps to the gamma of a price, and accepted relative error of the price."""


class NatCost(NamedTuple):
    """Nats of loss per joule and per second of delay, from one run at each fixed polling time.

    The cumulative loss per page is fitted by least squares as ``a + b * energy + c * delay``.

    Attributes
    ----------
    per_joule, per_second : float
        Coefficients b, in nats per joule, and c, in nats per second of added page time.
    fit : float
        Coefficient of determination R^2 of the fit.
    """

    per_joule: float
    per_second: float
    fit: float

    @property
    def joules(self) -> float:
        """Energy that is worth one nat; nan if the loss does not increase with energy."""
        return 1 / self.per_joule if self.per_joule > 0 else nan

    @property
    def seconds(self) -> float:
        """Added page time that is worth one nat; nan if the loss does not increase with the delay."""
        return 1 / self.per_second if self.per_second > 0 else nan

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
        Loss at the polling times that the station used, which are whole numbers of beacons.
    best_fixed, best_fixed_ms : float
        Loss of the best fixed polling time, and this time in ms.
    best_switching : float
        Loss of the best sequence of polling times with at most ``switches`` switches.
    switches : int
        Maximum number of switches, two per page.
    over_best_rate : float
        Mixture loss minus the mixture loss of Fixed-share at the best switching rate.
    bound : float
        Upper bound of ``over_best_rate``, see :func:`~psm_sim.learning.regret.learn_alpha_bound`.
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


class LearnerTimeline(NamedTuple):
    """Rounds of the learner from 1 s before the request of a page until 3 s after the end of the page.

    ``page`` is the row of the page, as in :attr:`Block.pages`. The arrays are the times of k rounds, the
    weights of n experts after each round, shape (k, n), and the polling time after each round.
    """

    page: Row
    times_s: FloatArray
    weights: FloatArray
    polling_ms: FloatArray


class Examination(NamedTuple):
    """Examination of a loss at its default gamma, on at most 40 pages of the first seed.

    The pages are loaded without background messages.

    ``is_constant`` is true if all polling times had the same loss in every round. ``is_per_page`` is true if
    the loss is computed once per page, not once per doze.
    """

    times_ms: FloatArray
    is_constant: bool
    is_per_page: bool
    regret: Regret
    page_load: LearnerTimeline
    nat: NatCost


class LearnerRound(NamedTuple):
    """Learning round: losses of the n experts, and the weights and the polling time after the round.

    ``mixture`` is the loss of the experts' weighted mixture. ``used`` is the loss of the polling time that
    the station used, a whole number of beacons. Losses are in nats.
    """

    time_s: float
    losses: FloatArray
    mixture: float
    used: float
    weights: FloatArray
    polling_ms: float


class LoggedLpsm(Lpsm):
    """LPSM that records each learning round."""

    def start(self, beacon_s: float) -> None:
        """Start without rounds. See :class:`~psm_sim.policies.Policy` for *beacon_s*."""
        super().start(beacon_s)
        self.rounds: list[LearnerRound] = []
        self._now_s = 0.0

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Return the decision of LPSM, and record the round if there is a poll to learn from.

        See :class:`~psm_sim.policies.Policy` for *now_s*, *since_uplink_s* and *poll*.
        """
        self._now_s = now_s
        return super().rest(now_s, since_uplink_s, poll)

    def _learn(self, poll: Poll) -> None:
        losses, used_ms = self.losses(poll), np.array([1000 * self.beacon_s * self._beacons])
        if self.is_per_page:  # a loss per page knows only the delays of the experts
            used = float(np.interp(used_ms.item(), self.times_ms, losses))
        else:
            used = self._loss(poll, used_ms, *self.loss_context(poll)).item()
        mixture = self.learner.update(losses)
        self._predict()
        self.rounds.append(
            LearnerRound(self._now_s, losses, mixture, used, self.learner.weights, self.polling_ms)
        )


_Observed = tuple[Poll, tuple[Context, ...]]
"""Observation at the end of a doze or page, and its context."""


class _FixedTime(Lpsm):
    """LPSM with a fixed polling time, which records its dozes and pages."""

    fixed_ms = 100.0

    def wants(self, hook: str) -> bool:
        """Return True, because the records of pages and contexts need every *hook*."""
        return True

    def start(self, beacon_s: float) -> None:
        """Start without observations. See :class:`~psm_sim.policies.Policy` for *beacon_s*."""
        self.observed: dict[str, list[_Observed]] = {"doze": [], "page": []}
        self._takes_context = True
        super().start(beacon_s)
        self._pages = PageDelays(self.times_ms, self.beacon_grid)

    def _learn(self, poll: Poll) -> None:
        kind = "page" if self.is_per_page else "doze"
        self.observed[kind].append((poll, self.loss_context(poll)))

    def _learn_page(self, page: ActivityPeriod) -> None:
        self.is_per_page = True
        super()._learn_page(page)
        self.is_per_page = False

    def _predict(self) -> None:
        self.polling_ms = self.fixed_ms
        self._beacons = max(1, round(self.fixed_ms / (1000 * self.beacon_s)))


class _FixedRun(NamedTuple):
    """Run of LPSM with one fixed polling time: its dozes and pages, and means per page."""

    observed: dict[str, list[_Observed]]
    energy_j: float
    delay_s: float


@dataclass(frozen=True)
class LossExaminer:
    """Computation of what losses cost on the pages of one workload. See :func:`examiner_of`."""

    topology: Topology
    workload: Workload
    times_s: Times
    times_ms: FloatArray
    fixed: Sequence[_FixedRun]

    def examine(self, loss: tuple[str, float | None]) -> Examination:
        """Examine a pair of a loss and a gamma. If the gamma is None, the loss keeps its own gamma."""
        policy = LoggedLpsm(loss=loss[0], gamma=loss[1])
        block = run_workload(policy, self.topology, self.workload, self.times_s)
        log = cast(LoggedLpsm, block.policy_state)
        return Examination(
            log.times_ms,
            not any(np.ptp(played.losses) for played in log.rounds),
            log.is_per_page,
            _regret(log, len(self.workload.pages)),
            _page_load(log.rounds, block),
            self.nat_cost(make_loss(*loss)),
        )

    def nat_cost(self, loss: Loss) -> NatCost:
        """Fit the loss per page of the fixed polling times as a linear function of energy and delay."""
        pages = len(self.workload.pages)
        totals = [
            sum(_losses_at(loss, self.times_ms, index, run.observed[loss.per]))
            for index, run in enumerate(self.fixed)
        ]
        nats = np.array(totals) / pages
        columns = np.array([[1.0, run.energy_j, run.delay_s] for run in self.fixed])
        slopes = np.linalg.lstsq(columns, nats)[0]
        variance = float(np.var(nats))
        fit = 1 - float(np.var(nats - columns @ slopes)) / variance if variance else nan
        return NatCost(slopes.item(1), slopes.item(2), fit)

    def gamma_at(self, price_w: float, loss: str, gamma: float) -> float:
        """Return the gamma at which *loss* implies the price *price_w*; the search begins at *gamma*.

        The price is c / b, with b and c of :class:`NatCost`. It is not proportional to gamma, because a
        latency term of the loss also contributes to b, and an energy term to c. But if the loss is linear in
        gamma, so is c - price * b, and the secant method finds its zero in one step.

        Raises
        ------
        InputError
            If there is no such gamma.
        """
        default_w = self.nat_cost(make_loss(loss, gamma)).price_w
        previous, excess = gamma / 2, nan
        for _ in range(_MAX_STEPS):
            nat = self.nat_cost(make_loss(loss, gamma))
            if abs(nat.price_w / price_w - 1) < _TOLERANCE:
                return gamma
            if np.isnan(excess):
                excess = _excess(self.nat_cost(make_loss(loss, previous)), price_w)
            change = _excess(nat, price_w) - excess
            step = _excess(nat, price_w) * (gamma - previous) / change if change else nan
            previous, excess, gamma = gamma, _excess(nat, price_w), gamma - step
            if not 0 < gamma < np.inf:
                break
        known = "" if np.isnan(default_w) else f" (the default gamma implies {default_w:.3g} W)"
        raise InputError(
            f"no gamma of loss {loss} implies a price of delay of {price_w:g} W{known}; choose another price,"
            " or gamma."
        )


def _excess(nat: NatCost, price_w: float) -> float:
    return nat.per_second - price_w * nat.per_joule


def examiner_of(topology: Topology, workload: Workload, workers: int | None) -> LossExaminer:
    """Simulate each polling time on the first pages of *workload*, and return the examiner of losses."""
    examined = replace(workload, pages=workload.pages[:_EXAMINED_PAGES], messages=NO_MESSAGES)
    times_s, times_ms = page_times_s(run_workload("always-on", topology, examined)), Lpsm().times_ms
    run = partial(_run_fixed, topology, examined, times_s)
    fixed = list(run_many(run, times_ms.tolist(), workers))
    return LossExaminer(topology, examined, times_s, times_ms, fixed)


def _run_fixed(topology: Topology, workload: Workload, times_s: Times, fixed_ms: float) -> _FixedRun:
    """Run the pages with one polling time."""
    policy = _FixedTime()
    policy.fixed_ms = fixed_ms
    block = run_workload(policy, topology, workload, times_s)
    observed = cast(_FixedTime, block.policy_state).observed
    delay_s = float(np.mean(page_times_s(block) - times_s))
    return _FixedRun(observed, measure(block)["energy_per_page_j"], delay_s)


def _losses_at(
    loss: Loss, times_ms: FloatArray, index: int, observed: Sequence[_Observed]
) -> Iterator[float]:
    """Yield the loss of expert *index*, in nats, for each doze or page of the run with its polling time."""
    guarded, has_context = guarded_loss(loss), takes_context(loss)
    guarded.start()
    idle = None if has_context or loss.per == "page" else guarded.idle(times_ms)
    for poll, context in observed:
        if idle is not None and not poll.buffered_frames:  # most dozes
            yield idle.item(index)
        else:
            yield guarded(poll, times_ms, *(context if has_context else ())).item(index)
            guarded.observe(poll)


def _regret(log: LoggedLpsm, pages: int) -> Regret:
    losses = np.array([played.losses for played in log.rounds])
    mixture = sum(played.mixture for played in log.rounds)
    totals, switches = losses.sum(axis=0), _SWITCHES_PER_PAGE * pages
    rate = best_rate(losses)
    learner = cast(LearnAlpha, log.learner)
    return Regret(
        rounds=len(losses),
        mixture=mixture,
        used=sum(played.used for played in log.rounds),
        best_fixed=float(totals.min()),
        best_fixed_ms=float(log.times_ms[totals.argmin()]),
        best_switching=float(best_switching(losses, switches)[-1]),
        switches=switches,
        over_best_rate=mixture - rate.loss,
        bound=learn_alpha_bound(len(losses), rate.alpha, learner.rates),
    )


def _page_load(rounds: Sequence[LearnerRound], block: Block) -> LearnerTimeline:
    """Return the learner during the page that is longest without power saving."""
    page = block.page(1 + int(block.pages["always_on_time_s"].argmax()))
    start_s, end_s = page["start_s"], page["start_s"] + page["page_time_s"]
    shown = [played for played in rounds if start_s - _BEFORE_S <= played.time_s <= end_s + _AFTER_S]
    times_s, weights, polling_ms = (
        np.array([getattr(played, name) for played in shown]) for name in ("time_s", "weights", "polling_ms")
    )
    return LearnerTimeline(page, times_s, weights, polling_ms)
