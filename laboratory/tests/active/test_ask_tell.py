"""Contract of learners that query labels: equal seeds, copies, and invalid labels."""

from typing import Any

import numpy as np
import pytest
from psm_lab.active.gaussian_instances import Gaussian
from psm_lab.active.noisy_threshold_learner import Isalg1d
from psm_lab.active.plane_learner import PlaneLearner
from psm_lab.active.pool_learner import PoolLearner
from psm_lab.active.threshold_learner import Isal1d

from psm_sim.common.errors import InputError
from psm_sim.contracts.shared_checks import pickle_round_trip

POOL = np.random.default_rng(0).normal(size=(60, 3))
LEARNERS: dict[str, Any] = {
    "isal-1d": lambda seed: Isal1d(eta=0.1, seed=seed),
    "isalg-1d": lambda seed: Isalg1d(seed=seed),
    "random": lambda seed: PlaneLearner("random", Gaussian.standard(4), seed=seed),
    "bi": lambda seed: PlaneLearner("bi", Gaussian.standard(4), seed=seed),
    "mi": lambda seed: PlaneLearner("mi", Gaussian.standard(4), seed=seed),
    "isalg": lambda seed: PlaneLearner("isalg", Gaussian.standard(4), seed=seed),
    "iwal2": lambda seed: PlaneLearner("iwal2:C0=0.1", Gaussian.standard(4), seed=seed),
    "pool-random": lambda seed: PoolLearner(POOL, "random", seed=seed),
    "pool-mu": lambda seed: PoolLearner(POOL, "mu", seed=seed),
    "pool-isalp": lambda seed: PoolLearner(POOL, "isalp", seed=seed),
    "pool-lmu-logreg": lambda seed: PoolLearner(POOL, "lmu-logreg", seed=seed),
}


def answer(query):
    """Return a label that depends only on the query."""
    value = POOL[query, 0] if isinstance(query, int) else np.ravel(query)[0]
    return 1 if value >= 0.1 else -1


def queries_of(learner, count):
    """Return the next queries as lists, and answer each."""
    queries = []
    for _ in range(count):
        queries.append(np.ravel(learner.ask()).tolist())
        learner.tell(answer(learner.ask()))
    return queries


@pytest.mark.parametrize("name", LEARNERS)
def test_equal_seeds_give_bit_for_bit_equal_queries(name):
    make = LEARNERS[name]
    assert queries_of(make(1), 20) == queries_of(make(1), 20)
    assert queries_of(make(1), 20) != queries_of(make(2), 20)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("open_question", [False, True])
def test_a_pickled_copy_of_a_sampler_continues_with_the_same_queries(name, open_question):
    """Pickled after 13 labels, with and without an open query; the next 12 queries are equal."""
    original = LEARNERS[name](1)
    queries_of(original, 13)
    if open_question:
        original.ask()
    copy = pickle_round_trip(original)
    assert len(copy) == 13
    assert queries_of(copy, 12) == queries_of(original, 12)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("bad", [0, np.nan, None])
def test_an_invalid_label_is_an_error_and_has_no_effect(name, bad):
    """The query stays open, and no label is counted."""
    learner = LEARNERS[name](1)
    query = learner.ask()
    with pytest.raises(InputError, match="label"):
        learner.tell(bad)
    assert len(learner) == 0
    assert np.array_equal(learner.ask(), query)
