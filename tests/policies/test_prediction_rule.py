"""Rules that turn weights into a polling time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.learning import StaticExpert
from psm_sim.policies import make_policy
from psm_sim.policies.helpers.polling_times import RULES, PredictionRule
from psm_sim.simulation import simulate

TIMES_MS = np.array([100.0, 200.0, 400.0])


def learner() -> StaticExpert:
    """Return a learner with the weights 1/2, 1/4 and 1/4."""
    static = StaticExpert(3)
    static.update([0.0, math.log(2), math.log(2)])
    return static


@pytest.mark.parametrize(
    ("rule", "time_ms"),
    [
        ("mean", 200.0),
        ("harmonic", 1 / (0.5 / 100 + 0.25 / 200 + 0.25 / 400)),
        ("median", 100.0),
        ("quantile:0", 100.0),
        ("quantile:0.6", 200.0),
        ("quantile:0.75", 200.0),
        ("quantile:0.8", 400.0),
        ("quantile:1", 400.0),
    ],
)
def test_a_rule_returns_the_hand_computed_time(rule: str, time_ms: float) -> None:
    """The weights are 1/2, 1/4 and 1/4."""
    assert PredictionRule(rule, TIMES_MS, "policy").predict(learner()) == pytest.approx(time_ms)


def test_the_shares_of_samples_equal_the_weights_and_samples_are_reproducible() -> None:
    """The tolerance is five standard errors of 20,000 samples."""
    rule, static = PredictionRule("sample", TIMES_MS, "policy"), learner()
    draws = [rule.predict(static) for _ in range(20_000)]
    for time_ms, weight in zip(TIMES_MS, (0.5, 0.25, 0.25), strict=True):
        assert draws.count(time_ms) / 20_000 == pytest.approx(weight, abs=0.018)
    rule.start()
    assert [rule.predict(static) for _ in range(100)] == draws[:100]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lpsm:rule=meam", "rule must be one of mean, .*, got 'meam'. Did you mean 'mean'"),
        ("lpsm:rule=quantile:2", "the quantile of rule must be a number from 0 to 1, got 'quantile:2'"),
        ("lpsm:rule=quantile", "the quantile of rule must be a number from 0 to 1, got 'quantile'"),
        ("lpsm:learner=learn", "Unknown learner 'learn'"),
        ("lpsm:alpha=0.1,learner=learn.py:Mine", "learner has no effect without alpha=none"),
    ],
)
def test_unknown_rules_and_learners_are_an_error_before_the_run(spec: str, message: str) -> None:
    """The message has the value and the expected values."""
    with pytest.raises(InputError, match=message):
        make_policy(spec)


@pytest.mark.parametrize("rule", [rule.replace("Q", "0.3") for rule in RULES])
def test_each_rule_runs_in_the_simulator(rule: str) -> None:
    """Polling times are between those of the experts, so energy and slowdown are in their range."""
    result = simulate(f"lpsm:rule={rule}", pages=5)
    assert 1 < result.slowdown.mean < 14
    assert 2 < result.energy_per_page_j < 4
