"""Contract of learners, query rules and named samplers."""

from __future__ import annotations

import math
import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from psm_lab.active import SelectiveSampler, make_selective
from psm_lab.active.perceptrons import (
    BudgetPerceptron,
    ModifiedPerceptron,
    Perceptron,
    ShiftingPerceptron,
)
from psm_lab.active.query_rules import (
    AlwaysQuery,
    BbqNoveltyRule,
    BernoulliQuery,
    DkmHalvingRule,
    MarginQuery,
    OneSided,
    SecondOrderQuery,
)
from psm_lab.active.sampler_specs import NAMES
from psm_lab.active.second_order_learners import Lasec, RidgeRegression, SecondOrderPerceptron

from psm_sim.common.errors import InputError

D = 4
LEARNERS = {
    "perceptron": lambda: Perceptron(D),
    "perceptron, first": lambda: Perceptron(D, eta=0.1, start="first"),
    "modified": lambda: ModifiedPerceptron(D),
    "modified, factor 1": lambda: ModifiedPerceptron(D, factor=1.0),
    "shifting": lambda: ShiftingPerceptron(D, lam=0.5),
    "budget": lambda: BudgetPerceptron(D, B=5),
    "lasec": lambda: Lasec(D, ridge=1.0, c=20.0),
    "sop": lambda: SecondOrderPerceptron(D),
    "ridge": lambda: RidgeRegression(D),
}
RULES: dict[str, Any] = {
    "always": AlwaysQuery,
    "coin": BernoulliQuery,
    "margin": MarginQuery,
    "second": SecondOrderQuery,
    "halving": lambda: DkmHalvingRule(R=3),
    "novelty": BbqNoveltyRule,
    "one-sided": lambda: OneSided(MarginQuery(b=0.3)),
}
every_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
every_name = pytest.mark.parametrize("name", NAMES)


def stream(seed=1, rounds=60):
    """Return Gaussian instances with a tenth of the labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, D))
    return X, np.where(X @ rng.normal(size=D) >= 0, 1, -1) * np.where(rng.random(rounds) < 0.1, -1, 1)


def snapshot(part):
    """Return the attributes of a learner or a rule, to see whether they change."""
    return pickle.dumps(vars(part))


def state(sampler):
    """Return the whole state of a sampler."""
    return (
        snapshot(sampler.learner),
        snapshot(sampler.rule),
        sampler.rng.bit_generator.state,
        sampler.n_queries_,
    )


def trained(make, seed=1):
    """Return a learner or a rule's sampler after a stream."""
    learner = make()
    for x, y in zip(*stream(seed), strict=True):
        learner.learn(x, int(y))
    return learner


PAIRS = [
    *((learner, "always") for learner in LEARNERS),
    *(("sop", rule) for rule in RULES),
]
"""Every learner that queries all labels, and every rule with a learner that supports all rules."""

every_pair = pytest.mark.parametrize(("learner", "rule"), PAIRS)


def sampler_of(learner, rule):
    """Return an untrained sampler."""
    return SelectiveSampler(LEARNERS[learner](), RULES[rule]())


def outcome(sampler):
    """Return the record and the weights of a run over further instances."""
    record = sampler.run(*stream(2))
    arrays = (record.prediction, record.probability, record.queried, record.updated, sampler.learner.w)
    return [array.tolist() for array in arrays]


@every_pair
def test_copies_of_a_sampler_continue_equally_and_do_not_change_the_original(learner, rule):
    """Runs of deep copies and of pickled copies are bit-for-bit equal."""
    sampler = sampler_of(learner, rule)
    sampler.run(*stream())
    before = state(sampler)
    copies = [outcome(deepcopy(sampler)), outcome(pickle.loads(pickle.dumps(sampler)))]  # noqa: S301
    assert state(sampler) == before
    assert copies == [outcome(sampler)] * 2


@every_learner
@pytest.mark.parametrize("label", [0, math.nan])
def test_an_invalid_label_is_an_error_and_leaves_the_learner_unchanged(make, label):
    learner = trained(make)
    before = snapshot(learner)
    with pytest.raises(InputError, match="label"):
        learner.learn(np.ones(D), label)
    assert snapshot(learner) == before


@pytest.mark.parametrize("rule", RULES)
def test_a_query_probability_is_between_0_and_1(rule):
    """Features are zero, tiny and huge, before and after training; the query does not change the learner."""
    sampler = sampler_of("sop", rule)
    for _ in range(2):
        before = snapshot(sampler.learner)
        for length in (0.0, 1e-12, 1.0, 1e12):
            assert 0 <= sampler.ask(np.full(D, length)).probability <= 1
        assert snapshot(sampler.learner) == before
        sampler.run(*stream())


BAD_INSTANCES = (
    ([1.0, math.nan, 0.0, 0.0], "feature 1 must be finite, got nan"),
    ([1.0, 0.0], r"must have shape \(4,\), got \(2,\)"),
    (["a", "b", "c", "d"], "must be an array of numbers"),
    ([1e200, 0.0, 0.0, 0.0], r"must be < 1e\+150, got 1e\+200"),
)


@pytest.mark.parametrize(("x", "words"), BAD_INSTANCES)
def test_an_invalid_instance_is_an_error_of_one_sentence(x, words):
    """Each call that accepts an instance raises the error. The contract checks cover every learner."""
    learner = trained(LEARNERS["perceptron"])
    before = snapshot(learner)
    for call in (learner.margin, lambda x: learner.learn(x, 1)):
        with pytest.raises(InputError, match=words) as caught:
            call(x)
        assert "\n" not in str(caught.value)
    assert snapshot(learner) == before


@every_name
def test_calling_ask_and_tell_equals_a_run_bit_for_bit(name):
    """Records, weights, rules and random numbers are equal, and depend on the seed."""
    X, y = stream(4, 150)
    one, other = make_selective(name, D, seed=3), make_selective(name, D, seed=3)
    record, seen = one.run(X, y), []
    for x, label in zip(X, y, strict=True):
        decision = other.ask(x)
        moved = other.tell(x, int(label)) if decision.query else False
        seen.append((decision.prediction, decision.probability, decision.query, moved))
    columns = (record.prediction, record.probability, record.queried, record.updated)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == seen
    assert state(one) == state(other)
    assert one.n_queries_ == record.queried.sum()


@every_name
def test_each_round_of_uncertain_query_takes_one_random_number(name):
    """Runs can be paired, because only probabilities strictly between 0 and 1 take a random number."""
    sampler = make_selective(name, D, seed=5)
    record = sampler.run(*stream(5))
    uncertain = ((record.probability > 0) & (record.probability < 1)).sum()
    twin = make_selective(name, D, seed=5)
    twin.rng.random(uncertain)
    assert twin.rng.bit_generator.state == sampler.rng.bit_generator.state


@pytest.mark.parametrize(
    ("rows", "labels", "words"),
    [
        (np.empty((0, D)), [], "n >= 1"),
        (np.ones((2, D)), [1], r"labels must have shape \(2,\), .*got \(1,\)"),
        (np.ones((2, D)), [1, 0], "label of row 1 must be -1 .*0"),
        ([[1.0] * D, [1.0, math.nan, 1.0, 1.0]], [1, 1], "row 1, feature 1 must be finite, got nan"),
    ],
)
def test_invalid_streams_are_an_error_before_any_training(rows, labels, words):
    sampler = make_selective("cbgz", D)
    sampler.run(*stream())
    before = state(sampler)
    with pytest.raises(InputError, match=words) as caught:
        sampler.run(rows, labels)
    assert "\n" not in str(caught.value)
    assert state(sampler) == before
