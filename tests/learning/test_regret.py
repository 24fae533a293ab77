"""Regret as time series, against every comparator."""

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.learning import (
    FixedShare,
    LearnAlpha,
    StaticExpert,
    best_expert,
    best_rate,
    comparator_losses,
    learn_alpha_optimal_bound,
    regrets,
    run_learner,
    switching_rates,
)
from tests.learning.sequences import clear_best, switching_sequence

VALUES = np.array([100.0, 200.0, 400.0])


def shifting(rounds=120, switches=5):
    noise = np.random.default_rng(2).random((rounds, 3))
    return noise + clear_best(switching_sequence(rounds, switches), 3, 2.0)


def test_following_predicts_before_it_learns() -> None:
    """Round t's prediction uses the weights before its losses; the first is the plain mean."""
    table, learner = shifting(), FixedShare(3, 0.05)
    followed = run_learner(learner, table, VALUES)
    again = FixedShare(3, 0.05)
    for t, row in enumerate(table):
        assert followed.predictions[t] == again.predict(VALUES)
        assert followed.mixture[t] == again.update(row)
    assert followed.predictions[0] == pytest.approx(VALUES.mean())
    assert learner.rounds == len(table)


def test_comparators_are_ordered_as_they_must_be() -> None:
    """At the end: each round's best <= best 3-switch <= best expert = best so far."""
    series = comparator_losses(shifting(), switches=3)
    assert all(one.shape == (120,) for one in series.values())
    last = {name: one[-1] for name, one in series.items()}
    assert last["best-each-round"] <= last["best-switching"] <= last["best-expert"]
    assert last["best-so-far"] == last["best-expert"]
    assert (series["best-so-far"] <= series["best-expert"]).all()
    assert last["best-rate"] == pytest.approx(best_rate(shifting()).loss, abs=1e-9)


def test_a_hand_computed_case() -> None:
    """Two experts, three rounds: every comparator's cumulative loss written out."""
    series = comparator_losses([[1.0, 0.0], [1.0, 0.0], [0.0, 4.0]], switches=1)
    assert series["best-expert"].tolist() == [1.0, 2.0, 2.0]
    assert series["best-so-far"].tolist() == [0.0, 0.0, 2.0]
    assert series["best-switching"].tolist() == [0.0, 0.0, 0.0]
    assert series["best-each-round"].tolist() == [0.0, 0.0, 0.0]


def test_regret_is_the_difference_of_cumulative_losses() -> None:
    """Also in the loss's own terms, with the losses of the predictions in place of the mixture's."""
    table = shifting()
    followed = run_learner(LearnAlpha(3, switching_rates(120)), table, VALUES)
    own = np.interp(followed.predictions, VALUES, np.arange(3)) / 2
    reference = comparator_losses(table, switches=5)
    for suffered in (followed.mixture, own):
        series = regrets(suffered, table, switches=5)
        for name, regret in series.items():
            assert regret == pytest.approx(suffered.cumsum() - reference[name], abs=1e-9)


def test_learners_keep_their_promises_on_a_shifting_sequence() -> None:
    """Static-expert within log n of the best expert; Learn-alpha within its bound of the best rate."""
    table = shifting()
    static = regrets(run_learner(StaticExpert(3), table, VALUES).mixture, table)
    learnt = regrets(run_learner(LearnAlpha(3, switching_rates(120)), table, VALUES).mixture, table)
    assert 0 <= static["best-expert"][-1] <= np.log(3)
    assert 0 <= learnt["best-rate"][-1] <= learn_alpha_optimal_bound(120)
    assert learnt["best-expert"][-1] < 0


def test_the_best_expert_is_the_one_with_the_least_total() -> None:
    """By index; ties go to the first."""
    assert best_expert([[3.0, 1.0, 1.0], [0.0, 1.0, 1.0]]) == 1


def test_series_of_another_length_are_refused() -> None:
    """There must be one loss suffered per round, and one value per expert."""
    with pytest.raises(InputError, match=r"losses suffered must have shape \(120,\), .*, got \(2,\)"):
        regrets([1.0, 2.0], shifting())
    with pytest.raises(InputError, match=r"values of the experts must have shape \(3,\), .*, got \(2,\)"):
        run_learner(StaticExpert(3), shifting(), [1.0, 2.0])
