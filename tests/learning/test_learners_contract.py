"""What every learner promises, whatever its kind."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psm_sim.errors import InputError
from psm_sim.learning import FixedShare, LearnAlpha, Learner, StaticExpert, switching_rates

N = 5
MAKERS = {
    "static-expert": lambda n=N: StaticExpert(n),
    "fixed-share": lambda n=N: FixedShare(n, 0.05),
    "fixed-share, alpha 0": lambda n=N: FixedShare(n, 0.0),
    "fixed-share, alpha 1": lambda n=N: FixedShare(n, 1.0),
    "learn-alpha": lambda n=N: LearnAlpha(n, switching_rates(horizon=50)),
    "learn-alpha, all rates": lambda n=N: LearnAlpha(n, [0.0, 1e-12, 0.3, 1 - 1e-12, 1.0]),
}
SWITCHING = ["fixed-share", "learn-alpha", "learn-alpha, all rates"]
every_learner = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def taught(make, rounds=40, scale=3.0, seed=1):
    learner = make()
    for row in np.random.default_rng(seed).exponential(scale, (rounds, N)):
        learner.update(row)
    return learner


@every_learner
def test_a_new_learner_weighs_all_experts_alike(make):
    """p_1 is uniform and no round has passed."""
    learner = make()
    assert isinstance(learner, Learner)
    assert learner.weights == pytest.approx(np.full(N, 1 / N), abs=1e-15)
    assert learner.rounds == 0


@every_learner
def test_weights_stay_a_distribution_under_huge_losses(make):
    """Losses up to 1e4 leave finite weights, none negative, summing to 1 to 1e-12."""
    learner = make()
    for row in np.random.default_rng(2).random((2000, N)) * 1e4:
        learner.update(row)
        assert learner.weights.min() >= 0
        assert abs(learner.weights.sum() - 1) < 1e-12


@pytest.mark.parametrize("name", SWITCHING)
def test_no_expert_is_lost_while_weight_is_shared(name):
    """After a thousand hopeless rounds an expert that turns good is found within a few rounds."""
    learner = MAKERS[name]()
    for _ in range(1000):
        learner.update([0.0, 1e4, 1e4, 1e4, 1e4])
    assert (learner.weights > 0).all()
    for _ in range(3):
        learner.update([1e4, 1e4, 1e4, 0.0, 1e4])
    assert learner.weights.argmax() == 3


@every_learner
@settings(max_examples=25, deadline=None)
@given(shift=st.floats(0, 1e4), seed=st.integers(0, 1000))
def test_a_constant_added_to_all_losses_changes_no_weight(make, shift, seed):
    """Only differences of losses teach; the mixture loss rises by the constant."""
    plain, shifted = make(), make()
    for row in np.random.default_rng(seed).exponential(2.0, (10, N)):
        assert shifted.update(row + shift) == pytest.approx(plain.update(row) + shift, abs=1e-9)
    assert shifted.weights == pytest.approx(plain.weights, abs=1e-9)


@every_learner
def test_the_mixture_loss_lies_between_the_least_and_the_mean_loss(make):
    """-log of a mean of exp(-loss) is no more than the weighted mean (Jensen)."""
    learner = make()
    for row in np.random.default_rng(4).exponential(2.0, (50, N)):
        mean = learner.predict(row)
        assert row.min() - 1e-12 <= learner.update(row) <= mean + 1e-12


@every_learner
def test_an_infinite_loss_removes_an_expert_for_the_round(make):
    """The other experts share the round as if the removed one had lost without end."""
    learner, other = make(), make()
    row = np.array([0.5, 1.0, np.inf, 0.2, 0.7])
    assert learner.update(row) == pytest.approx(other.update(np.where(row < 9, row, 1e6)), abs=1e-12)
    assert learner.weights == pytest.approx(other.weights, abs=1e-12)
    assert math.isfinite(learner.update(np.ones(N)))


@every_learner
@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ([1, 2, math.nan, 4, 5], "round 41: the loss of expert 2 is nan; expected a number of nats"),
        ([1, -2.5, 3, 4, 5], "round 41: the loss of expert 1 is -2.5; expected"),
        ([1, -math.inf, 3, 4, 5], "round 41: the loss of expert 1 is -inf; expected"),
        ([math.inf] * 5, "round 41: the losses are all inf"),
        ([1, 2, 3], r"round 41: the losses have shape \(3,\); expected \(5,\)"),
        (1.0, r"round 41: the losses have shape \(\); expected \(5,\)"),
        (["a"] * 5, "round 41: the losses are .* expected numbers"),
    ],
)
def test_unusable_losses_are_refused_by_round_and_value(make, losses, words):
    """The error names the round, the value and what is expected; the learner stays as it was."""
    learner = taught(make)
    before = learner.state()
    with pytest.raises(InputError, match=words):
        learner.update(losses)
    assert learner.state() == before


@every_learner
def test_prediction_is_the_weighted_mean(make):
    """A constant is predicted as itself and any other value as its mean under the weights."""
    learner = taught(make)
    values = np.linspace(100, 1200, N)
    assert learner.predict(np.full(N, 300.0)) == pytest.approx(300, rel=1e-12)
    assert learner.predict(values) == pytest.approx(learner.weights @ values, rel=1e-12)
    with pytest.raises(InputError, match=r"values to predict from have shape \(2,\)"):
        learner.predict([1, 2])


@every_learner
@pytest.mark.parametrize("clone", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])  # noqa: S301
def test_copies_learn_on_alike_and_apart(make, clone):
    """A deep or pickled copy goes on bit for bit as the original, and neither touches the other."""
    learner = taught(make)
    twin, before = clone(learner), learner.weights
    rows = np.random.default_rng(5).exponential(2.0, (20, N))
    ahead = [twin.update(row) for row in rows]
    assert learner.weights.tolist() == before.tolist()
    assert [learner.update(row) for row in rows] == ahead
    assert learner.weights.tolist() == twin.weights.tolist()


@every_learner
def test_a_saved_state_goes_on_where_it_was_saved(make):
    """The state survives JSON, and a fresh learner that loads it learns on as the first does."""
    learner, fresh = taught(make), make()
    fresh.load_state(json.loads(json.dumps(learner.state(), allow_nan=False)))
    assert fresh.rounds == 40
    for row in np.random.default_rng(6).exponential(2.0, (20, N)):
        assert fresh.weights == pytest.approx(learner.weights, rel=1e-9)
        assert fresh.update(row) == pytest.approx(learner.update(row), rel=1e-9)


def test_a_state_with_weights_of_zero_is_saved_too():
    """Static-expert keeps an expert ruled out by an infinite loss ruled out, across JSON."""
    learner, fresh = StaticExpert(2), StaticExpert(2)
    learner.update([math.inf, 1.0])
    fresh.load_state(json.loads(json.dumps(learner.state(), allow_nan=False)))
    assert fresh.weights.tolist() == [0.0, 1.0]


@every_learner
def test_a_state_of_another_size_or_kind_is_refused(make):
    """What does not fit is named, with what was expected, and nothing is taken over."""
    learner = taught(make)
    before = learner.state()
    for state, words in [
        (taught(make).state() | {"learner": "other"}, "has learner 'other'; expected"),
        (MAKERS["static-expert"](3).state() | {"learner": learner.name}, "has experts 3; expected 5"),
        (taught(make).state() | {"rounds": -1}, "rounds of the saved state is -1"),
        (taught(make).state() | {"log_weights": [0.0]}, "log_weights of the saved state cannot be used"),
        (taught(make).state() | {"log_weights": None}, "log_weights of the saved state cannot be used"),
        ({"learner": learner.name}, "the saved state is incomplete"),
        ([], "the saved state is incomplete"),
    ]:
        with pytest.raises(InputError, match=words):
            learner.load_state(state)
    assert learner.state() == before


def test_a_state_of_other_switching_rates_is_refused():
    """Rates are part of what was learnt."""
    learner = LearnAlpha(2, [0.1, 0.2])
    with pytest.raises(InputError, match=r"has rates \[0.1, 0.3\]; expected \[0.1, 0.2\]"):
        learner.load_state(LearnAlpha(2, [0.1, 0.3]).state())
    with pytest.raises(InputError, match=r"has alpha 0.1; expected 0.2"):
        FixedShare(2, 0.2).load_state(FixedShare(2, 0.1).state())


def test_memory_does_not_grow_with_the_number_of_rounds():
    """The pickled learner is as large after a thousand rounds as after one."""
    learner = taught(MAKERS["learn-alpha"], rounds=1)
    early = len(pickle.dumps(learner))
    for row in np.random.default_rng(3).random((1000, N)):
        learner.update(row)
    assert len(pickle.dumps(learner)) <= early + 64


@every_learner
def test_a_single_expert_is_followed_without_regret(make):
    """With one expert there is nothing to learn, whatever the switching rate."""
    learner = make(1)
    assert learner.update([2.5]) == pytest.approx(2.5, abs=1e-12)
    assert learner.weights == pytest.approx([1.0], abs=1e-12)


def test_when_every_expert_with_weight_is_removed_the_round_is_refused():
    """Static-expert shares nothing: with all its weight removed no distribution is left."""
    for learner in (StaticExpert(2), FixedShare(2, 0.0), LearnAlpha(2, [0.0])):
        learner.update([math.inf, 1.0])
        with pytest.raises(InputError, match="round 2: every expert that still has weight lost inf"):
            learner.update([1.0, math.inf])
        assert learner.update([1.0, 1.0]) == 1.0
        assert learner.rounds == 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: StaticExpert(0), "static-expert: the number of experts is 0; expected a whole number"),
        (lambda: StaticExpert(2.0), "the number of experts is 2.0; expected"),
        (lambda: StaticExpert(True), "the number of experts is True; expected"),
        (lambda: FixedShare(3, 1.5), "fixed-share: alpha is 1.5; expected a number from 0 to 1"),
        (lambda: FixedShare(3, math.nan), "alpha is nan; expected"),
        (lambda: FixedShare(3, "0.1"), "alpha is '0.1'; expected"),
        (lambda: LearnAlpha(3, []), r"switching rates have shape \(0,\); expected"),
        (lambda: LearnAlpha(3, 0.1), r"switching rates have shape \(\); expected"),
        (lambda: LearnAlpha(3, [0.1, -0.2]), "switching rate 1 is -0.2; expected a number from 0 to 1"),
        (lambda: LearnAlpha(3, ["x"]), "switching rates are .* expected numbers"),
    ],
)
def test_constructors_refuse_what_they_cannot_use(make, words):
    """One sentence: what is wrong, the value, what is expected."""
    with pytest.raises(InputError, match=words):
        make()


def test_what_a_learner_hands_out_is_a_copy():
    """Changing weights, rates or their posterior from outside changes nothing within."""
    learner = taught(MAKERS["learn-alpha"])
    before = learner.weights, learner.rates, learner.rate_weights
    learner.weights[:] = learner.rates[:] = learner.rate_weights[:] = 0
    for now, then in zip((learner.weights, learner.rates, learner.rate_weights), before, strict=True):
        assert now.tolist() == then.tolist()
    assert abs(learner.rate_weights.sum() - 1) < 1e-12


def test_losses_are_left_as_they_were_given():
    """Updating reads its argument only; lists and integers serve as well as arrays."""
    losses = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    losses.flags.writeable = False
    for make in MAKERS.values():
        assert make().update(losses) == make().update([3, 1, 2, 5, 4])
