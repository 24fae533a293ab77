"""Contract checks of the built-in learners, and further laws of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.contracts.learner_checks import LEARNER_CHECKS
from psm_sim.contracts.report import Check, run_check
from psm_sim.learning import (
    FixedShare,
    LearnAlpha,
    Learner,
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
}
REASON = "the best expert is taken to change in every round: the one that is best now has no weight"
EXCEPTIONS: Exceptions = {
    ("fixed-share, alpha 1", "lets-experts-recover"): REASON,
}
every_learner = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def trained(make: Callable[[int], Learner], rounds: int = 40) -> Learner:
    """Return a learner after *rounds* of random losses."""
    learner = make(N)
    for row in np.random.default_rng(1).exponential(3.0, (rounds, N)):
        learner.update(row)
    return learner


@pytest.mark.parametrize(("name", "check"), cases(LEARNER_CHECKS, list(MAKERS), EXCEPTIONS))
def test_a_built_in_learner_passes_every_check(name: str, check: Check) -> None:
    """The checks are those of ``psm_sim check``."""
    assert run_check(check, MAKERS[name](N)).fault == ""


@every_learner
def test_a_new_learner_has_uniform_weights(make) -> None:
    """The number of rounds is 0."""
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
def test_the_error_for_invalid_losses_has_the_round_and_the_value(make, losses, words: str) -> None:
    """The error also has the expected values, and the learner is unchanged."""
    learner = trained(make)
    before = learner.weights.tolist()
    with pytest.raises(InputError, match=words):
        learner.update(losses)
    assert (learner.weights.tolist(), learner.rounds) == (before, 40)


@every_learner
def test_a_prediction_from_a_wrong_number_of_values_is_an_error(make: Callable[[int], Learner]) -> None:
    """A prediction requires one value per expert."""
    with pytest.raises(InputError, match=r"values to predict from must have shape .*, got \(2,\)"):
        trained(make).predict([1, 2])


@every_learner
def test_a_learner_with_a_single_expert_has_no_regret(make) -> None:
    """The switching rate does not matter."""
    learner = make(1)
    assert learner.update([2.5]) == pytest.approx(2.5, abs=1e-12)
    assert learner.weights == pytest.approx([1.0], abs=1e-12)


def test_giving_every_expert_with_positive_weight_an_infinite_loss_is_an_error() -> None:
    """Static-expert shares no weight, so no distribution is left."""
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
        (lambda: FixedShare(3, 1.5), "fixed-share: alpha must be a number >= 0 and <= 1, got 1.5"),
        (lambda: FixedShare(3, math.nan), "alpha must be a number >= 0 and <= 1, got nan"),
        (lambda: FixedShare(3, "0.1"), "alpha must be a number >= 0 and <= 1, got '0.1'"),  # type: ignore[arg-type]
        (lambda: LearnAlpha(3, []), r"switching rates must be a non-empty list, got shape \(0,\)"),
        (lambda: LearnAlpha(3, 0.1), r"switching rates must be a non-empty list, got shape \(\)"),
        (lambda: LearnAlpha(3, [0.1, -0.2]), "switching rate 1 must be a number from 0 to 1, got -0.2"),
        (lambda: LearnAlpha(3, ["x"]), "switching rates must be numbers"),
    ],
)
def test_constructors_reject_invalid_arguments(make, words: str) -> None:
    """The message has the argument, its value and the expected values."""
    with pytest.raises(InputError, match=words):
        make()


def test_arrays_returned_by_a_learner_are_copies() -> None:
    """Writing to weights, rates or their posterior does not change the learner."""
    learner = trained(MAKERS["learn-alpha"])
    before = learner.weights, learner.rates, learner.rate_weights
    learner.weights[:] = learner.rates[:] = learner.rate_weights[:] = 0
    for now, then in zip((learner.weights, learner.rates, learner.rate_weights), before, strict=True):
        assert now.tolist() == then.tolist()
    assert abs(learner.rate_weights.sum() - 1) < 1e-12
