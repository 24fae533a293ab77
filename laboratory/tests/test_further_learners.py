"""The learners that the thesis lacks: exact values by enumeration, and bounds."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from psm_lab.further_learners import DecreasingShare, MixingPastPosteriors, ShortLearnAlpha

from psm_sim.common.array_types import FloatArray
from psm_sim.learning import FixedShare, StaticExpert

SIZES = [(1, 4), (2, 1), (2, 7), (3, 6)]


def exponential_losses(rounds: int, n: int, seed: int) -> FloatArray:
    """Return losses in nats, shape (rounds, n)."""
    return np.random.default_rng(seed).exponential(2.0, (rounds, n))


@pytest.mark.parametrize(("n", "rounds"), SIZES)
def test_the_loss_of_decreasing_share_equals_the_sum_over_all_sequences(n: int, rounds: int) -> None:
    """The cumulative loss is -log of the likelihood under a Markov prior with rate 1 / (t + 1)."""
    losses = exponential_losses(rounds, n, seed=n * 10 + rounds)
    total = 0.0
    for sequence in itertools.product(range(n), repeat=rounds):
        prior = 1 / n
        for t, (before, after) in enumerate(itertools.pairwise(sequence), 1):
            if n > 1:
                prior *= t / (t + 1) if before == after else 1 / (t + 1) / (n - 1)
        total += prior * math.exp(-sum(losses[t, i] for t, i in enumerate(sequence)))
    learner = DecreasingShare(n)
    suffered = sum(learner.update(row) for row in losses)
    assert suffered == pytest.approx(-math.log(total), abs=1e-10)


def mixing_bound(losses: FloatArray, sequence: Sequence[int], alpha: float) -> float:
    """Return the bound of Bousquet and Warmuth (2002) for the loss against one sequence, in nats.

    Each expert of the sequence costs log n. Each round costs the negative logarithm of the factor with which
    the posterior of that expert's previous round enters the weights: 1 - alpha for the round before, and
    alpha divided by the number of earlier posteriors for all others.
    """
    n, last = losses.shape[1], dict.fromkeys(range(losses.shape[1]), 0)
    bound = sum(losses[t, expert] for t, expert in enumerate(sequence)) + len(set(sequence)) * math.log(n)
    for t, expert in enumerate(sequence, 1):
        if t > 1:
            share = 1 - alpha if last[expert] == t - 1 else alpha / (t - 1)
            bound += math.inf if share == 0 else -math.log(share)
        last[expert] = t
    return bound


@pytest.mark.parametrize("alpha", [0.02, 0.3, 0.9, 1.0])
@pytest.mark.parametrize(("n", "rounds"), SIZES)
def test_mixing_past_posteriors_obeys_its_bound_against_every_sequence(n, rounds, alpha) -> None:
    """All n^T sequences are tried, on random losses and on experts that return."""
    returning = np.where((np.arange(rounds)[:, None] // 2) % n == np.arange(n), 0.0, 6.0)
    for losses in (exponential_losses(rounds, n, seed=3), returning):
        learner = MixingPastPosteriors(n, alpha)
        suffered = sum(learner.update(row) for row in losses)
        bounds = [
            mixing_bound(losses, sequence, alpha) for sequence in itertools.product(range(n), repeat=rounds)
        ]
        assert suffered <= min(bounds) + 1e-9


def test_mixing_past_posteriors_has_the_weights_of_its_definition() -> None:
    """The reference stores all posteriors."""
    learner, alpha = MixingPastPosteriors(3, 0.1), 0.1
    weights, posteriors = np.full(3, 1 / 3), [np.full(3, 1 / 3)]
    for row in exponential_losses(50, 3, seed=1):
        learner.update(row)
        posterior = weights * np.exp(-row)
        posterior /= posterior.sum()
        weights = (1 - alpha) * posterior + alpha * np.mean(posteriors, axis=0)
        posteriors.append(posterior)
        assert learner.weights == pytest.approx(weights, abs=1e-12)


def test_mixing_past_posteriors_loses_less_than_fixed_share_if_former_best_experts_return() -> None:
    """Two experts of thirty alternate; both learners have the same rate."""
    losses = np.full((3000, 30), 4.0)
    for t in range(3000):
        losses[t, t // 100 % 2] = 0.0
    mixing, share = MixingPastPosteriors(30, 0.02), FixedShare(30, 0.02)
    assert sum(map(mixing.update, losses)) < sum(map(share.update, losses)) - 20


def test_learn_alpha_on_eight_rates_loses_at_most_log_8_nats_more_than_the_best_rate() -> None:
    """The reference is Fixed-share with any of the rates."""
    losses = exponential_losses(2000, 5, seed=2)
    short = ShortLearnAlpha(5)
    suffered = sum(map(short.update, losses))
    for rate in short.rates:
        fixed = FixedShare(5, rate)
        assert suffered <= sum(map(fixed.update, losses)) + math.log(8) + 1e-9


def test_decreasing_share_loses_at_most_log_t_nats_more_than_static_expert() -> None:
    """The sequence has no switch, and the loss is in nats."""
    losses = exponential_losses(500, 4, seed=4)
    decreasing, static = DecreasingShare(4), StaticExpert(4)
    gap = sum(map(decreasing.update, losses)) - sum(map(static.update, losses))
    assert gap <= math.log(500) + 1e-9
