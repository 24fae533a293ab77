"""Idle plans of LPSM, compared with runs round by round."""

from __future__ import annotations

import os
from math import inf, nextafter
from typing import Any, cast

import numpy as np
import pytest

from psm_sim.beacons import Beacons
from psm_sim.learning import Learner
from psm_sim.network import Observer
from psm_sim.network.doze import Doze
from psm_sim.policies import Poll, make_policy
from psm_sim.policies.helpers.polling_times import IdlePlan, round_to_beacons
from psm_sim.policies.lpsm import Lpsm
from psm_sim.workload import load_workload
from tests.network.worlds import run_world

POLLS = int(os.environ.get("PSM_SIM_POLLS", "15000"))
"""Number of polls of the default policy, at least 5,000. Other policies have fewer."""


def heard(spec: str, polls: int, plans: bool, seed: int = 1) -> tuple[list[int], Learner]:
    """Return the numbers of the beacons that a station receives, some of them with buffered frames."""
    policy, rng = make_policy(spec), np.random.default_rng(seed)
    assert isinstance(policy, Lpsm)
    policy.start(0.1)
    beacons, numbers, poll, begin = Doze(Beacons(0.1), plans), list[int](), None, 0
    while len(numbers) < polls:
        next_arrival, buffered = len(numbers) + int(rng.geometric(0.01)), int(rng.integers(40, 20_000))
        while len(numbers) < next_arrival:
            beacons.begin(0.1 * begin, policy.rest(0.1 * begin, 1.0, poll))
            while len(numbers) < next_arrival - 1 and beacons.load_promised_doze():
                numbers.append(round(beacons.wakes_s / 0.1))
                beacons.skip_empty_beacons(nextafter(beacons.wakes_s, inf))
            begin = round(beacons.wakes_s / 0.1)
            numbers.append(begin)
            poll = beacons.end(beacons.wakes_s)
        poll = Poll(poll.slept_ms, buffered, 1, ((poll.slept_ms / 2, buffered),))
    return numbers, policy.learner


@pytest.mark.parametrize(
    ("spec", "polls"),
    [
        ("lpsm:loss=inverse-log", POLLS),
        ("lpsm:loss=inverse,gamma=1e-7", POLLS // 3),
        ("lpsm:loss=arrival-aware", 5_000),
        ("lpsm:loss=retrieval-energy", 5_000),
        ("lpsm:loss=constrained", 5_000),
        ("lpsm:loss=gamma * I * Ti / T + 1/Ti", 5_000),
        ("lpsm:alpha=0.01", 5_000),
        ("lpsm:horizon_s=200", 5_000),
        ("lpsm:step_ms=50,min_ms=150", 5_000),
    ],
)
def test_doze_plans_change_neither_the_beacons_received_nor_the_weights(spec, polls):
    """The final weights are within 1e-9. ``PSM_SIM_POLLS=100000`` tries as many polls of the default."""
    planned, learner = heard(spec, polls, plans=True)
    decided, expected = heard(spec, polls, plans=False)
    assert planned == decided
    assert learner.rounds == expected.rounds
    assert np.abs(learner.weights - expected.weights).max() < 1e-9


@pytest.mark.parametrize(
    ("mean_ms", "beacons"),
    [(650.0, 7), (650.0 - 1e-8, 7), (650.0 - 1e-6, 6), (650.0 + 1e-8, 7), (1.0, 1), (149.9, 1), (151.0, 2)],
)
def test_a_mean_just_below_half_a_beacon_is_rounded_up(mean_ms, beacons):
    """A difference of 1e-7 ms is a billionth of a beacon, with and without plans."""
    assert round_to_beacons(np.array([mean_ms / 100])).tolist() == [beacons]
    policy = make_policy("lpsm")
    assert isinstance(policy, Lpsm)
    policy.start(0.1)
    policy.learner.predict = lambda values: mean_ms
    assert policy.rest(0.1, 0.1, Poll(100.0)).beacons == beacons


class Decisions(Observer):
    """Record decisions and beacons."""

    def __init__(self) -> None:
        self.questions: list[tuple[float, Poll | None, int]] = []
        self.times_s: list[float] = []

    def rest(self, time_s, poll, rest):
        """Record a decision."""
        self.questions.append((time_s, poll, rest.beacons))

    def beacons(self, first_s, count, every_s):
        """Record the beacons."""
        self.times_s += [first_s + number * every_s for number in range(count)]


class BeaconsOnly(Observer):
    """Record beacons only."""

    def __init__(self) -> None:
        self.times_s: list[float] = []

    beacons = Decisions.beacons


@pytest.mark.parametrize("uplink", ["one", "keep", "restart"])
def test_an_observer_of_rests_receives_every_decision_and_does_not_change_the_run(uplink):
    """The observer disables plans; energy and page times are bit-for-bit equal."""
    pages = load_workload("ucb", 30, 4).pages
    runs = []
    for observer in (Decisions(), BeaconsOnly()):
        policy = make_policy(f"lpsm:uplink={uplink}")
        runs.append((run_world(pages, policy, [observer]), policy, observer))
    (one, slow, decisions), (other, fast, beacons_only) = runs
    assert list(one.visits) == list(other.visits)
    assert decisions.times_s == pytest.approx(beacons_only.times_s, abs=1e-9)
    assert len(beacons_only.times_s) == other.usage().beacons
    assert sum(poll is not None for _, poll, _ in decisions.questions) >= len(decisions.times_s) - 1
    assert slow.learner.rounds == fast.learner.rounds
    assert np.abs(slow.learner.weights - fast.learner.weights).max() < 1e-9


def test_a_subclass_of_lpsm_decides_at_each_beacon():
    """A subclass can therefore override the training of each poll."""

    class Own(Lpsm):
        pass

    own = Own()
    own.start(0.1)
    assert own.rest(0.1, 0.1, Poll(100.0)).plan is None


@pytest.mark.parametrize(
    ("spec", "planned"), [("lpsm", True), ("lpsm:alpha=0", False), ("lpsm:step_ms=2", False)]
)
def test_a_plan_that_cannot_be_computed_is_empty(spec, planned):
    """The policy then decides at the next beacon, as without a plan."""
    policy = make_policy(spec)
    policy.start(0.1)
    plan = policy.rest(0.1, 0.1, Poll(100.0)).plan
    assert plan is not None
    assert (next(plan.dozes(), None) is not None) is planned


class Means:
    """Lookahead that predicts two blocks of polling times, in beacon intervals."""

    def predictions(self, times):
        """Yield the blocks."""
        yield np.array([1.0, 1.2, 2.0])
        yield np.array([2.4, 2.5, 3.0])


def test_a_plan_merges_consecutive_dozes_of_equal_length_within_a_block():
    """Lengths are rounded by hand; the last length of a block may occur only once."""
    plan = IdlePlan(cast(Any, Means), lambda *_: None, np.array([100.0, 500.0]), 0.1)
    assert list(plan.dozes()) == [(1, 2), (2, 1), (2, 1), (3, 2)]


def test_a_formula_with_the_time_slept_is_evaluated_at_each_beacon():
    """Dozes without buffered frames are evaluated, too."""
    policy = make_policy("lpsm:loss=1/Ti + 1e-9*T")
    policy.start(0.1)
    assert policy.rest(0.1, 0.1, Poll(100.0)).plan is None
