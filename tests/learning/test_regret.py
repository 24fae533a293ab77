"""Regret of the learners against comparators in hindsight."""

import numpy as np

from psm_sim.learning import (
    LearnAlpha,
    StaticExpert,
    best_expert,
    best_rate,
    learn_alpha_bound,
    switching_rates,
)
from tests.learning.sequences import clear_best, switching_sequence


def shifting(rounds=120, switches=5):
    noise = np.random.default_rng(2).random((rounds, 3))
    return noise + clear_best(switching_sequence(rounds, switches), 3, 2.0)


def test_regrets_obey_their_bounds_on_a_shifting_sequence() -> None:
    """Static-expert is within log n of the best expert, and Learn-alpha within its bound of the best rate."""
    table = shifting()
    best = table[:, best_expert(table)].sum()
    static, learnt = (
        sum(learner.update(row) for row in table)
        for learner in (StaticExpert(3), LearnAlpha(3, switching_rates(120)))
    )
    assert 0 <= static - best <= np.log(3)
    rate = best_rate(table)
    assert 0 <= learnt - rate.loss <= learn_alpha_bound(120, rate.alpha, switching_rates(120))
    assert learnt < best


def test_the_best_expert_has_the_lowest_total_loss() -> None:
    """The first of equal experts is the best."""
    assert best_expert([[3.0, 1.0, 1.0], [0.0, 1.0, 1.0]]) == 1
