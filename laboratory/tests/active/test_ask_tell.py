"""Contract of all learners that ask: same seed, same questions; copies; answers that cannot be used."""

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


def answer(asked):
    """Return a label that depends on what was asked alone."""
    value = POOL[asked, 0] if isinstance(asked, int) else np.ravel(asked)[0]
    return 1 if value >= 0.1 else -1


def questions(learner, count):
    """Return the next questions, as lists, each answered."""
    asked = []
    for _ in range(count):
        asked.append(np.ravel(learner.ask()).tolist())
        learner.tell(answer(learner.ask()))
    return asked


@pytest.mark.parametrize("name", LEARNERS)
def test_the_same_seed_asks_the_same_and_another_seed_does_not(name):
    """Questions are those of the seed, to the last bit."""
    make = LEARNERS[name]
    assert questions(make(1), 20) == questions(make(1), 20)
    assert questions(make(1), 20) != questions(make(2), 20)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("open_question", [False, True])
def test_a_pickled_copy_goes_on_as_if_nothing_had_happened(name, open_question):
    """Pickled after 13 answers, with and without a question open, then 12 more are asked alike."""
    original = LEARNERS[name](1)
    questions(original, 13)
    if open_question:
        original.ask()
    copy = pickle_round_trip(original)
    assert len(copy) == 13
    assert questions(copy, 12) == questions(original, 12)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("bad", [0, np.nan, None])
def test_a_label_that_is_none_teaches_nothing(name, bad):
    """The question stays open and nothing is counted."""
    learner = LEARNERS[name](1)
    asked = learner.ask()
    with pytest.raises(InputError, match="label"):
        learner.tell(bad)
    assert len(learner) == 0
    assert np.array_equal(learner.ask(), asked)
