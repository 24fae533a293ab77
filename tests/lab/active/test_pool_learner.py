"""Pool learners: the published errors, ISALp's switch, and ties."""

from functools import lru_cache

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.lab.active.data.simulated_neuron import SimulatedNeuron
from psm_sim.lab.active.linear_separator import Plane
from psm_sim.lab.active.pool_learner import IsalpRule, PoolLearner, cross_validation_error, standardise


@lru_cache
def errors(rule, flips, labels, seeds):
    """Return the held-out error after each number of labels, one row per seed."""
    found: list[list[float]] = []
    for seed in range(seeds):
        rng, neuron = np.random.default_rng(seed), SimulatedNeuron(flips=flips)
        x = neuron.population.draw(rng, 5000)
        y = neuron.answer(x, rng)
        learner = PoolLearner(x[1000:], rule, replication=seed)
        found.append([])
        for count in labels:
            learner.run(y[1000:].tolist().__getitem__, count)
            found[-1].append(np.mean(learner.predict(x[:1000]) != y[:1000]))
    return np.array(found)


@pytest.mark.parametrize(
    ("rule", "published"),
    [
        ("random", (0.292, 0.215, 0.131, 0.092)),
        ("mu", (0.269, 0.181, 0.092, 0.071)),
        ("isalp", (0.255, 0.176, 0.084, 0.071)),
        ("lmu-logreg", (0.282, 0.166, 0.092, 0.074)),
    ],
)
def test_errors_on_the_clean_pool_are_those_of_the_table(rule, published):
    """After 10, 20, 50 and 100 labels, 10 seeds: within .04, or within our own interval."""
    for ours, theirs in zip(errors(rule, 0.0, (10, 20, 50, 100), 10).T, published, strict=True):
        spread = confidence_interval(ours)
        assert abs(spread.mean - theirs) < max(0.04, spread.half_width)


def test_on_the_clean_pool_near_instances_teach_more():
    """After 100 labels MU and ISALp err at least .01 less than random, seed by seed."""
    passive = errors("random", 0.0, (10, 20, 50, 100), 10)
    for rule in ("mu", "isalp"):
        gain = confidence_interval((passive - errors(rule, 0.0, (10, 20, 50, 100), 10))[:, 3])
        assert gain.mean > 0.01
        assert gain.low > 0


def test_isalp_prefers_near_instances_until_it_trusts_its_plane():
    """The chances are those of the formula; after the switch the nearest is taken, for good."""
    pool = np.array([[0.0], [0.5], [1.0], [2.0]])
    learner, rule, rng = PoolLearner(pool, "isalp"), IsalpRule(), np.random.default_rng(0)
    learner.plane = Plane(np.array([1.0]), -0.25)
    chosen = np.bincount([rule.choose(learner, rng) for _ in range(4000)], minlength=4) / 4000
    by_hand = np.exp(-((pool[:, 0] - 0.25) ** 2))
    assert chosen == pytest.approx(by_hand / by_hand.sum(), abs=0.03)
    rule.switched = True
    assert [rule.choose(learner, rng) for _ in range(5)] == [0] * 5


def test_isalp_switches_where_cross_validation_is_good_enough():
    """On separable data at 10 labels, never under labels that are coins."""
    rng = np.random.default_rng(0)
    pool = 3 * rng.normal(size=(300, 2))
    coins = rng.choice([-1, 1], 300)
    clean, noisy = PoolLearner(pool, "isalp"), PoolLearner(pool, "isalp:switch=0.05")
    clean.run(lambda i: 1 if pool[i, 0] > 0 else -1, 30)
    noisy.run(lambda i: int(coins[i]), 30)
    assert clean.rule.switched
    assert not noisy.rule.switched


def test_cross_validation_of_labels_that_fit_is_free_of_errors():
    """And of labels that contradict each other it is not."""
    x = np.linspace(-1, 1, 20)[:, None]
    assert cross_validation_error(x, np.where(x[:, 0] > 0, 1, -1), 10.0) <= 0.1
    assert cross_validation_error(x, np.where(np.arange(20) % 2, 1, -1), 10.0) > 0.3


def test_equal_distances_go_to_the_lower_number():
    """Three copies of each instance: the first one left is asked for."""
    learner = PoolLearner(np.repeat([[1.0], [-1.0], [3.0]], 3, axis=0), "mu", first=1)
    asked = []
    for _ in range(9):
        asked.append(learner.ask())
        learner.tell(1 if learner.pool[asked[-1], 0] > 0 else -1)
    for kind in range(3):
        rest = [index for index in asked[1:] if index // 3 == kind]
        assert rest == sorted(rest)
    assert sorted(asked) == list(range(9))
    with pytest.raises(InputError, match="labelled"):
        learner.ask()


def test_standardised_features_have_mean_0_and_deviation_1():
    """A constant feature becomes 0."""
    found = standardise([[1.0, 5.0], [3.0, 5.0]])
    assert found.tolist() == [[-1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("pool", "rule"),
    [
        ([], "mu"),
        ([[np.nan]], "mu"),
        ([1.0, 2.0], "mu"),
        ([[1.0]], "nearest"),
        ([[1.0]], "isalp:sigma=0"),
    ],
)
def test_pools_that_cannot_be_used_are_refused(pool, rule):
    """Empty, NaN, of the wrong shape; rules unknown or out of range."""
    with pytest.raises(InputError, match=r"must|expected"):
        PoolLearner(pool, rule)
