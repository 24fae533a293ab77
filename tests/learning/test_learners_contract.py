"""The checks that every learner must pass, on the built-in ones, and what holds for these besides."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.contracts.check_suite import Subject
from psm_sim.contracts.learner_checks import LEARNER_CHECKS
from psm_sim.learning import (
    LEARNERS,
    DecreasingShare,
    FixedShare,
    LearnAlpha,
    Learner,
    MixingPastPosteriors,
    ShortLearnAlpha,
    StaticExpert,
    switching_rates,
)
from tests.contracts.cases import Exceptions, cases

N = 5
MAKERS: dict[str, Callable[[int], Learner]] = {
    "static-expert": StaticExpert,
    "fixed-share": lambda n: FixedShare(n, 0.05),
    "fixed-share, alpha 0": lambda n: FixedShare(n, 0.0),
    "fixed-share, alpha 1": lambda n: FixedShare(n, 1.0),
    "learn-alpha": lambda n: LearnAlpha(n, switching_rates(horizon=50)),
    "learn-alpha, all rates": lambda n: LearnAlpha(n, [0.0, 1e-12, 0.3, 1 - 1e-12, 1.0]),
    "short-learn-alpha": ShortLearnAlpha,
    "decreasing-share": DecreasingShare,
    "mixing-past": MixingPastPosteriors,
    "mixing-past, alpha 1": lambda n: MixingPastPosteriors(n, 1.0),
}
REASON = "the best expert is taken to change in every round: the one that is best now has no weight"
EXCEPTIONS: Exceptions = {
    ("fixed-share, alpha 1", "no-expert-is-lost"): REASON,
    ("mixing-past, alpha 1", "no-expert-is-lost"): "the last round does not count, only those before it",
}
every_learner = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def taught(make: Callable[[int], Learner], rounds: int = 40) -> Learner:
    """Return a learner after some rounds of drawn losses."""
    learner = make(N)
    for row in np.random.default_rng(1).exponential(3.0, (rounds, N)):
        learner.update(row)
    return learner


@pytest.mark.parametrize(("name", "check"), cases(LEARNER_CHECKS, list(MAKERS), EXCEPTIONS))
def test_a_built_in_learner_passes_every_check(name: str, check: str) -> None:
    """The same checks as ``psm_sim check`` runs on a user's learner."""
    assert LEARNER_CHECKS.run_one(check, Subject(MAKERS[name](N))).fault == ""


def test_every_learner_that_has_a_name_is_checked() -> None:
    """A new one in the registry is made here too."""
    assert {make(N).name for make in MAKERS.values()} >= set(LEARNERS.names())


@every_learner
def test_a_new_learner_weighs_all_experts_alike(make) -> None:
    """p_1 is uniform and no round has passed."""
    learner = make(N)
    assert isinstance(learner, Learner)
    assert learner.weights == pytest.approx(np.full(N, 1 / N), abs=1e-15)
    assert learner.rounds == 0


@every_learner
@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ([1, 2, math.nan, 4, 5], "round 41: the loss of expert 2 must be at least 0 nats .*, got nan"),
        ([1, -2.5, 3, 4, 5], "round 41: the loss of expert 1 must be .* got -2.5"),
        ([1, -math.inf, 3, 4, 5], "round 41: the loss of expert 1 must be .* got -inf"),
        ([math.inf] * 5, "round 41: all losses are inf"),
        ([1, 2, 3], r"round 41: the losses must have shape \(5,\), .*, got \(3,\)"),
        (1.0, r"round 41: the losses must have shape \(5,\), .*, got \(\)"),
        (["a"] * 5, "round 41: the losses must be numbers"),
    ],
)
def test_unusable_losses_are_refused_by_round_and_value(make, losses, words: str) -> None:
    """The error names the round, the value and what is expected; the learner stays as it was."""
    learner = taught(make)
    before = learner.state()
    with pytest.raises(InputError, match=words):
        learner.update(losses)
    assert learner.state() == before


@every_learner
def test_values_of_another_number_are_not_predicted_from(make: Callable[[int], Learner]) -> None:
    """One for each expert is expected."""
    with pytest.raises(InputError, match=r"values to predict from must have shape .*, got \(2,\)"):
        taught(make).predict([1, 2])


def test_a_state_with_weights_of_zero_is_saved_too() -> None:
    """Static-expert keeps an expert ruled out by an infinite loss ruled out, across JSON."""
    learner, fresh = StaticExpert(2), StaticExpert(2)
    learner.update([math.inf, 1.0])
    fresh.load_state(json.loads(json.dumps(learner.state(), allow_nan=False)))
    assert fresh.weights.tolist() == [0.0, 1.0]


@every_learner
def test_a_state_of_another_size_or_kind_is_refused(make) -> None:
    """What does not fit is named, with what was expected, and nothing is taken over."""
    learner = taught(make)
    before = learner.state()
    key = "log_weights" if "log_weights" in before else "weights"
    states: list[tuple[Any, str]] = [
        (taught(make).state() | {"learner": "other"}, "has learner 'other'; expected"),
        (MAKERS["static-expert"](3).state() | {"learner": learner.name}, "has experts 3; expected 5"),
        (taught(make).state() | {"rounds": -1}, "rounds of the saved state must be an integer >= 0, got -1"),
        (taught(make).state() | {key: [0.0]}, f"{key} of the saved state are invalid"),
        (taught(make).state() | {key: None}, f"{key} of the saved state are invalid"),
        ({"learner": learner.name}, "the saved state is incomplete"),
        ([], "the saved state is incomplete"),
    ]
    for state, words in states:
        with pytest.raises(InputError, match=words):
            learner.load_state(state)
    assert learner.state() == before


def test_a_state_of_other_switching_rates_is_refused() -> None:
    """Rates are part of what was learnt."""
    learner = LearnAlpha(2, [0.1, 0.2])
    with pytest.raises(InputError, match=r"has rates \[0.1, 0.3\]; expected \[0.1, 0.2\]"):
        learner.load_state(LearnAlpha(2, [0.1, 0.3]).state())
    with pytest.raises(InputError, match=r"has alpha 0.1; expected 0.2"):
        FixedShare(2, 0.2).load_state(FixedShare(2, 0.1).state())


@every_learner
def test_a_single_expert_is_followed_without_regret(make) -> None:
    """With one expert there is nothing to learn, whatever the switching rate."""
    learner = make(1)
    assert learner.update([2.5]) == pytest.approx(2.5, abs=1e-12)
    assert learner.weights == pytest.approx([1.0], abs=1e-12)


def test_when_every_expert_with_weight_is_removed_the_round_is_refused() -> None:
    """Static-expert shares nothing: with all its weight removed no distribution is left."""
    for learner in (StaticExpert(2), FixedShare(2, 0.0), LearnAlpha(2, [0.0])):
        learner.update([math.inf, 1.0])
        with pytest.raises(
            InputError,
            match="round 2: every expert with positive weight has an infinite loss; expected a finite loss",
        ):
            learner.update([1.0, math.inf])
        assert learner.update([1.0, 1.0]) == 1.0
        assert learner.rounds == 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: StaticExpert(0), "static-expert: the number of experts must be an integer >= 1, got 0"),
        (lambda: StaticExpert(2.0), "the number of experts must be an integer >= 1, got 2.0"),  # type: ignore[arg-type]
        (lambda: StaticExpert(True), "the number of experts must be an integer >= 1, got True"),
        (lambda: FixedShare(3, 1.5), "fixed-share: alpha must be a number from 0 to 1, got 1.5"),
        (lambda: FixedShare(3, math.nan), "alpha must be a number from 0 to 1, got nan"),
        (lambda: FixedShare(3, "0.1"), "alpha must be a number from 0 to 1, got '0.1'"),  # type: ignore[arg-type]
        (lambda: LearnAlpha(3, []), r"switching rates must be a non-empty list, got shape \(0,\)"),
        (lambda: LearnAlpha(3, 0.1), r"switching rates must be a non-empty list, got shape \(\)"),
        (lambda: LearnAlpha(3, [0.1, -0.2]), "switching rate 1 must be a number from 0 to 1, got -0.2"),
        (lambda: LearnAlpha(3, ["x"]), "switching rates must be numbers"),
    ],
)
def test_constructors_refuse_what_they_cannot_use(make, words: str) -> None:
    """One sentence: what is wrong, the value, what is expected."""
    with pytest.raises(InputError, match=words):
        make()


def test_what_a_learner_hands_out_is_a_copy() -> None:
    """Changing weights, rates or their posterior from outside changes nothing within."""
    learner = taught(MAKERS["learn-alpha"])
    before = learner.weights, learner.rates, learner.rate_weights
    learner.weights[:] = learner.rates[:] = learner.rate_weights[:] = 0
    for now, then in zip((learner.weights, learner.rates, learner.rate_weights), before, strict=True):
        assert now.tolist() == then.tolist()
    assert abs(learner.rate_weights.sum() - 1) < 1e-12


@pytest.mark.parametrize("weights", [[[2.0]] * N, [[-0.2]] + [[0.3]] * 4, [[0.2]] * 4, [["a"]] * N, None])
def test_a_state_whose_weights_are_no_distribution_is_refused(weights: Any) -> None:
    """None negative, a sum of 1, one for each expert; and nothing is taken over."""
    learner = FixedShare(N, 0.05)
    state = learner.state()
    with pytest.raises(
        InputError, match="weights of the saved state are invalid; expected nonnegative numbers of shape"
    ):
        learner.load_state(state | {"weights": weights})
    assert learner.state() == state
