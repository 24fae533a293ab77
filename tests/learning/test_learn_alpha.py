"""Learn-alpha in three forms: plain, and with rates normalised in every round or in some."""

from __future__ import annotations

import doctest
import math
from typing import Any

import numpy as np
import pytest

from psm_sim.learning import LearnAlpha, learn_alpha, switching_rates

N = 4
RATES = {
    "for 27,000 rounds": switching_rates(27_000)[::12],
    "one": np.array([0.3]),
    "tiny": np.array([1e-99, 1e-12, 1 - 1e-8]),
    "no memory": np.array([0.75, 0.7500001, 0.9]),
}
by_rates = pytest.mark.parametrize("rates", RATES.values(), ids=RATES)


def table(seed: int, rounds: int = 150) -> Any:
    """Return losses of all sizes, with experts removed in some rounds, shape (rounds, N)."""
    rng = np.random.default_rng(seed)
    losses = rng.exponential(1.0, (rounds, N)) * rng.choice([1e-6, 0.1, 3.0, 1e4], (rounds, 1))
    losses[rng.random((rounds, N)) < 0.05] = math.inf
    losses[:, 0][np.isinf(losses).all(axis=1)] = 1.0
    return losses


@by_rates
@pytest.mark.parametrize("seed", [1, 2])
def test_unscaled_rounds_give_the_same_weights_as_scaled_rounds(rates: Any, seed: int) -> None:
    """Weights, weights of rates, and losses agree in each round; reading them changes nothing."""
    unscaled, plain, scaled = (LearnAlpha(N, rates) for _ in range(3))
    assert unscaled._accumulates
    scaled._accumulates = False
    for losses in table(seed):
        assert unscaled.update(losses) == pytest.approx(scaled.update(losses), rel=1e-9, abs=1e-12)
        assert np.abs(unscaled.weights - scaled.weights).max() < 1e-11
        assert np.abs(unscaled.rate_weights - scaled.rate_weights).max() < 1e-9
        plain.update(losses)
    assert (unscaled.weights == plain.weights).all()


def test_a_rate_with_almost_no_weight_can_recover() -> None:
    """A posterior of e^-2000, after many rounds without a switch, recovers with a switch per round."""
    learner = LearnAlpha(2, [1e-4, 0.5])
    steady, wild = [[0.0, 9.0]] * 3_000, [[0.0, 9.0], [9.0, 0.0]] * 300
    low = 1.0
    for row in [*steady, *wild]:
        learner.update(row)
        low = min(low, learner.rate_weights[1])
    assert low == 0.0
    assert learner.rate_weights[1] > 0.99


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_learn_alpha_function_in_the_docstring_gives_the_same_weights(seed: int) -> None:
    """The function in the docstring runs on other losses, with the rates of the thesis."""
    names: dict[str, Any] = dict(vars(learn_alpha))
    for example in doctest.DocTestParser().get_examples(learn_alpha.__doc__ or ""):
        exec(example.source, names)  # noqa: S102 (the project's own docstring)
    rates, losses = switching_rates(500), np.random.default_rng(seed).exponential(1.0, (500, N))
    learner = LearnAlpha(N, rates)
    for row in losses:
        learner.update(row)
    weights, rate_weights = names["plain_learn_alpha"](losses, rates)
    assert learner.weights == pytest.approx(weights, rel=1e-10)
    assert learner.rate_weights == pytest.approx(rate_weights, rel=1e-9)
