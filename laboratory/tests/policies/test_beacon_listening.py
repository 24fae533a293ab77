"""The policy listen: features computed by hand, and mistake bounds compared with the simulated truth."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from psm_lab.active.bound_comparators import Cbgz2Bound, CbgzBound, Updates
from psm_lab.policies.beacon_features import Features
from psm_lab.policies.beacon_listening import Listen
from scipy.stats import bootstrap

from psm_sim.common.errors import InputError
from psm_sim.network import build_world, load_topology, run_alone
from psm_sim.policies import Frame, Poll, make_policy
from psm_sim.simulation import simulate
from psm_sim.workload import load_workload

PAGES, SEEDS = 8, 10


def request(flow: int = 0, size: int = 300) -> Frame:
    """Return a frame with a request, or any other payload."""
    return Frame(flow, size + 40, size, False, False)


def fin(flow: int = 0) -> Frame:
    """Return a FIN without payload."""
    return Frame(flow, 40, 0, False, True)


class Watched(Listen):
    """Record margin and truth of every beacon, received or not, and each update.

    The truth is hidden from the station: the times at which frames arrived at the access point.
    """

    def start(self, beacon_s):
        super().start(beacon_s)
        self.margins, self.truths, self.updates = [], [], []

    def rest(self, now_s, since_uplink_s, poll):
        if poll is not None:
            self._settle(now_s, poll)
        self.begun_s = now_s
        rest_ = super().rest(now_s, since_uplink_s, poll)
        first = self.beacon_grid.after(now_s)
        instances = self._features.at(
            np.arange(first, first + self._horizon, dtype=np.float64) * self.beacon_s
        )
        self.ahead = self._forecast.learner.decision_function(instances)
        return rest_

    def interrupted(self, poll):
        self._settle(self.begun_s + poll.slept_ms / 1000, poll)
        super().interrupted(poll)

    def _settle(self, until_s, poll):
        number = self.beacon_grid.after(self.begun_s)
        for margin in self.ahead:
            beacon_s = self.beacon_grid.time(number)
            if beacon_s > until_s + 1e-9:
                break
            came = any(self.begun_s + offset / 1000 <= beacon_s for offset, _ in poll.arrivals)
            self.margins.append(margin)
            self.truths.append(came)
            number += 1

    def _learn_planned(self, frames):
        planned, learner = self._planned, self._forecast.learner
        before = learner.w.copy()
        super()._learn_planned(frames)
        if planned is not None and (learner.w != before).any():
            self.updates.append((planned.instance, 1 if frames else -1))


class Truth(NamedTuple):
    """True results of a run: wrong predictions, misses and their estimate, and updates."""

    wrong: int
    misses: int
    estimate: float
    updates: list[tuple[np.ndarray, int]]


@cache
def truth(learner: str, b: float, seed: int) -> Truth:
    """Return the truth of one run on the same pages, with the coins of a seed."""
    policy = Watched(learner=learner, b=b, seed=seed)
    run_alone(build_world(load_topology(), policy), load_workload("ucb", PAGES, 701).pages)
    positive, came = np.array(policy.margins) >= 0, np.array(policy.truths)
    wrong, misses = int((positive != came).sum()), int((~positive & came).sum())
    return Truth(wrong, misses, policy.report()["misses_estimated"], policy.updates)


@pytest.mark.parametrize(("learner", "b"), [("cbgz", 0.3), ("cbgz2", 0.03)])
def test_the_mean_number_of_mistakes_obeys_the_bound_of_the_theorem(learner, b):
    """The mean is over ten seeds of the Bernoulli draws and all beacons of a run."""
    runs = [truth(learner, b, seed) for seed in range(SEEDS)]
    pairs = [pair for run in runs for pair in run.updates]
    x, y = np.array([x for x, _ in pairs]), np.array([y for _, y in pairs], dtype=float)
    weight = np.full(len(y), 1 / SEEDS)
    dets = [np.linalg.slogdet(np.eye(9) + sum(np.outer(x, x) for x, _ in run.updates))[1] for run in runs]
    updates = Updates(x, y, weight, logdet=float(np.mean(dets)))
    bound = CbgzBound(b) if learner == "cbgz" else Cbgz2Bound(b)
    wrong = np.mean([run.wrong for run in runs])
    assert 0 < wrong <= bound.at(updates, bound.best(updates))


def test_the_interval_of_the_estimated_misses_covers_the_true_misses():
    """The interval of the mean difference over ten seeds contains 0, and is narrow."""
    runs = [truth("cbgz", 0.3, seed) for seed in range(SEEDS)]
    difference = np.array([run.estimate - run.misses for run in runs])
    estimate = bootstrap((difference,), np.mean, random_state=1, confidence_level=0.99)
    assert estimate.confidence_interval.low <= 0 <= estimate.confidence_interval.high
    assert estimate.standard_error < 0.2 * np.mean([run.misses for run in runs])


@pytest.mark.parametrize("learner", ["cbgz", "cbgz2", "lasec", "dkm", "random"])
def test_the_numbers_of_useful_and_wasted_beacons_add_up_to_the_number_received(learner):
    """The radio counts the same number, or one more at the end."""
    result = simulate(f"listen:learner={learner}{'' if learner == 'dkm' else ',b=0.1'}", pages=15, seed=702)
    tally = result.to_dict()["policy_report"]
    assert tally["hits"] + tally["wasted"] == tally["listens"]
    assert 0 <= result["usage.beacons"] - tally["listens"] <= 1
    assert 0 < tally["forced"] <= tally["listens"]
    assert ("misses_estimated" in tally) == (learner != "dkm")


def test_nearly_all_beacons_that_dkm_receives_are_forced_beacons():
    """The query band soon is narrower than every margin."""
    tally = simulate("listen:learner=dkm,R=8", pages=60, seed=703).to_dict()["policy_report"]
    assert tally["forced"] > 0.85 * tally["listens"]


def test_a_random_listener_receives_the_configured_share():
    """In an idle hour the mean gap is that of Bernoulli draws with at most twelve beacons."""
    tally = simulate("listen:learner=random,b=0.25", trace="pushes:period_s=1e9", pages=1).to_dict()[
        "policy_report"
    ]
    gap = (1 - 0.75**12) / 0.25
    assert tally["listens"] == pytest.approx(36_000 / gap, rel=0.03)


def test_the_features_agree_with_hand_computed_features():
    """A packet was sent 0.1 s and a frame received 0.2 s before, with one request waiting. The norm is 1."""
    features = Features(True, 0.1)
    features.received(9.8, request(size=1460))
    features.sent(9.9, request(flow=3))
    features.listened(9.7)
    raw = np.array(
        [
            1.0, np.log(2) / 5, np.log(4) / 3, np.log(3) / 7,
            np.tanh(np.exp(-0.2)), np.tanh(np.exp(-0.02)), 1.0, np.log(2) / 5, 0.25,
        ]
    )  # fmt: skip
    assert features.at(np.array([10.0]))[0] == pytest.approx(raw / np.linalg.norm(raw))
    features.received(10.0, fin(flow=3))
    assert (features.at(np.array([10.5, 11.0]))[:, 6:] == 0).all()


def test_a_beacon_with_a_margin_of_0_or_more_is_received():
    """The first beacon is received, because every margin is 0 before any training."""
    policy = Listen(b=1e-9)
    policy.start(0.1)
    assert policy.rest(1.0, 0.0, None).beacons == 1
    assert policy.rest(1.1, 0.1, Poll(100.0)).beacons == 12  # one empty beacon later it is sure of the next


@pytest.mark.parametrize("bad", ["learner=cbgz2,weight=2", "learner=random,b=2", "learner=bbq"])
def test_the_error_for_invalid_parameters_names_the_policy(bad):
    with pytest.raises(InputError, match="policy listen"):
        make_policy(f"listen:{bad}")
