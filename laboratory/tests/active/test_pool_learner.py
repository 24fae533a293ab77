"""Pool learners: the switch of ISALp, and ties."""

import numpy as np
import pytest
from psm_lab.active.linear_separator import Plane
from psm_lab.active.pool_learner import IsalpRule, PoolLearner, cross_validation_error, standardise

from psm_sim.common.errors import InputError


def test_isalp_samples_by_distance_and_after_its_switch_takes_the_nearest_instance():
    """The probabilities are those of the formula, and the switch is final."""
    pool = np.array([[0.0], [0.5], [1.0], [2.0]])
    learner, rule, rng = PoolLearner(pool, "isalp"), IsalpRule(), np.random.default_rng(0)
    learner.plane = Plane(np.array([1.0]), -0.25)
    chosen = np.bincount([rule.choose(learner, rng) for _ in range(4000)], minlength=4) / 4000
    by_hand = np.exp(-((pool[:, 0] - 0.25) ** 2))
    assert chosen == pytest.approx(by_hand / by_hand.sum(), abs=0.03)
    rule.switched = True
    assert [rule.choose(learner, rng) for _ in range(5)] == [0] * 5


def test_isalp_switches_on_separable_data_and_never_on_random_labels():
    """The switch is at 10 labels."""
    rng = np.random.default_rng(0)
    pool = 3 * rng.normal(size=(300, 2))
    coins = rng.choice([-1, 1], 300)
    clean, noisy = PoolLearner(pool, "isalp"), PoolLearner(pool, "isalp:switch=0.05")
    clean.run(lambda i: 1 if pool[i, 0] > 0 else -1, 30)
    noisy.run(lambda i: int(coins[i]), 30)
    assert clean.rule.switched
    assert not noisy.rule.switched


def test_the_cross_validation_error_is_low_if_labels_are_consistent_and_high_otherwise():
    x = np.linspace(-1, 1, 20)[:, None]
    assert cross_validation_error(x, np.where(x[:, 0] > 0, 1, -1)) <= 0.1
    assert cross_validation_error(x, np.where(np.arange(20) % 2, 1, -1)) > 0.3


def test_among_instances_at_equal_distance_the_instance_of_lowest_index_is_queried():
    """The pool has three copies of each instance."""
    learner = PoolLearner(np.repeat([[1.0], [-1.0], [3.0]], 3, axis=0), "mu")
    queries = []
    for _ in range(9):
        queries.append(learner.ask())
        learner.tell(1 if learner.pool[queries[-1], 0] > 0 else -1)
    for kind in range(3):
        rest = [index for index in queries[4:] if index // 3 == kind]
        assert rest == sorted(rest)
    assert sorted(queries) == list(range(9))
    with pytest.raises(InputError, match="labelled"):
        learner.ask()


def test_standardised_features_have_mean_0_and_deviation_1():
    """A constant feature becomes 0."""
    standardised = standardise([[1.0, 5.0], [3.0, 5.0]])
    assert standardised.tolist() == [[-1, 0], [1, 0]]
