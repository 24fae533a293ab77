"""Learners compared with the definition, a sum over all n^T expert sequences (2.5)."""

import itertools
import math

import numpy as np
import pytest

from psm_sim.learning import FixedShare, LearnAlpha, StaticExpert

ALPHAS = [0.0, 1e-320, 1e-12, 0.02, 0.3, 0.5, 0.75, 1 - 1e-12, 1.0]
SIZES = [(1, 4), (2, 1), (2, 6), (3, 6)]


def likelihood(losses, alpha):
    """Return the sum over all expert sequences of their Markov prior times exp(-their loss)."""
    rounds, n = losses.shape
    total = 0.0
    for sequence in itertools.product(range(n), repeat=rounds):
        prior = 1 / n
        for before, after in itertools.pairwise(sequence):
            if n > 1:
                prior *= 1 - alpha if before == after else alpha / (n - 1)
        total += prior * math.exp(-sum(losses[t, i] for t, i in enumerate(sequence)))
    return total


def random_losses(rounds, n, seed):
    return np.random.default_rng(seed).exponential(2.0, (rounds, n))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("n", "rounds"), SIZES)
def test_the_loss_of_fixed_share_equals_the_sum_over_all_sequences(n, rounds, alpha) -> None:
    """The cumulative loss is -log of the enumerated likelihood, at any switching rate."""
    losses = random_losses(rounds, n, seed=n * 10 + rounds)
    learner = FixedShare(n, alpha)
    suffered = sum(learner.update(row) for row in losses)
    assert suffered == pytest.approx(-math.log(likelihood(losses, alpha)), abs=1e-10)


@pytest.mark.parametrize(("n", "rounds"), SIZES)
def test_the_loss_of_static_expert_equals_the_sum_over_constant_sequences(n, rounds) -> None:
    """Only constant sequences have prior weight, and the final weights are their posterior."""
    losses = random_losses(rounds, n, seed=n + rounds)
    learner = StaticExpert(n)
    suffered = sum(learner.update(row) for row in losses)
    likelihoods = np.exp(-losses.sum(axis=0))
    assert suffered == pytest.approx(-math.log(likelihoods.mean()), abs=1e-10)
    assert learner.weights == pytest.approx(likelihoods / likelihoods.sum(), abs=1e-12)


@pytest.mark.parametrize("rates", [ALPHAS, [0.01, 0.5, 0.9], [0.0], [0.0, 1.0]])
@pytest.mark.parametrize(("n", "rounds"), SIZES)
def test_the_likelihood_of_learn_alpha_is_the_mean_likelihood_of_its_rates(n, rounds, rates) -> None:
    """The top level is Bayes' rule over rates: likelihoods average, and their ratio is the posterior."""
    losses = random_losses(rounds, n, seed=7 * n + rounds)
    learner = LearnAlpha(n, rates)
    suffered = sum(learner.update(row) for row in losses)
    likelihoods = np.array([likelihood(losses, rate) for rate in rates])
    assert suffered == pytest.approx(-math.log(likelihoods.mean()), abs=1e-10)
    assert learner.rate_weights == pytest.approx(likelihoods / likelihoods.sum(), abs=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0])
def test_the_weights_are_the_predictive_distribution_of_the_next_expert(alpha: float) -> None:
    """p_{t+1}(i) is the likelihood with the next expert fixed at i, over the likelihood so far."""
    losses = random_losses(4, 3, seed=3)
    learner = FixedShare(3, alpha)
    for row in losses:
        learner.update(row)
    for expert in range(3):
        only = np.full(3, np.inf)
        only[expert] = 0.0
        joint = likelihood(np.vstack([losses, only]), alpha)
        assert learner.weights[expert] == pytest.approx(joint / likelihood(losses, alpha), abs=1e-12)


def test_losses_with_removed_experts_equal_the_sum_over_all_sequences() -> None:
    """Infinite losses are exact: a sequence through a removed expert has likelihood 0."""
    losses = random_losses(5, 3, seed=11)
    losses[1, 0] = losses[3, 2] = np.inf
    for alpha in (0.0, 0.4, 1.0):
        learner = FixedShare(3, alpha)
        suffered = sum(learner.update(row) for row in losses)
        assert suffered == pytest.approx(-math.log(likelihood(losses, alpha)), abs=1e-10)


def test_losses_that_overflow_the_exponential_give_exact_weights() -> None:
    """Static weights of exp(-1e4) come back when the other expert loses more."""
    learner = FixedShare(2, 0.0)
    suffered = [learner.update(row) for row in ([0.0, 1e4], [3e4, 0.0])]
    assert sum(suffered) == pytest.approx(1e4 + math.log(2), abs=1e-10)
    assert learner.weights == pytest.approx([0.0, 1.0])


def test_the_weights_at_a_switching_rate_of_1_are_exact() -> None:
    """Two experts have only two alternating sequences."""
    losses = np.array([[0.0, 1e4], [1e4, 0.0], [0.0, 2e3]])
    learner = LearnAlpha(2, [1.0])
    suffered = sum(learner.update(row) for row in losses)
    assert suffered == pytest.approx(math.log(2), abs=1e-10)
    assert learner.weights == pytest.approx([0.0, 1.0])
