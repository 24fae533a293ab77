"""Lemma 1 by enumeration; Theorem 1 and Corollary 1 on adversarial sequences."""

import itertools
import math

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.learning import (
    LearnAlpha,
    best_expert,
    best_rate,
    learn_alpha_bound,
    rate_losses,
    relative_entropy,
    switching_rates,
    upper_bound,
)
from psm_sim.learning.regret import count_switches
from tests.learning.sequences import KINDS, clear_best, losses, switching_sequence

PER_KIND = 200


def enumerated(table, prior):
    """Return all sequences, their likelihoods phi(s) times *prior*(s), as in (2.5)."""
    rounds, n = table.shape
    sequences = np.array(list(itertools.product(range(n), repeat=rounds)))
    phi = np.exp(-table[np.arange(rounds), sequences].sum(axis=1))
    return sequences, phi * np.array([prior(sequence) for sequence in sequences])


def share_prior(alpha, n):
    """Return the Markov prior of Fixed-share (2.3)."""

    def prior(sequence):
        switches = np.count_nonzero(np.diff(sequence))
        stays = len(sequence) - 1 - switches
        return (alpha / (n - 1)) ** switches * (1 - alpha) ** stays / n

    return prior


@pytest.mark.parametrize(("n", "rounds"), [(2, 6), (3, 5), (4, 4)])
@pytest.mark.parametrize("best", [0.1, 0.5, 0.93])
def test_lemma_1_holds_between_any_two_rates(n: int, rounds: int, best: float) -> None:
    """By the identities (2.4) and (2.5), regret is -log E_Q exp((T-1)[D(a||alpha*) - D(a||alpha)])."""
    table = np.random.default_rng(n).exponential(2, (rounds, n))
    sequences, joint = enumerated(table, share_prior(best, n))
    assert rate_losses(table, [best])[0] == pytest.approx(-math.log(joint.sum()), abs=1e-9)
    switched = np.count_nonzero(np.diff(sequences), axis=1) / (rounds - 1)
    for alpha in (0.01, 0.3, 0.5, 0.99):
        exponent = (rounds - 1) * (relative_entropy(switched, best) - relative_entropy(switched, alpha))
        regret = -math.log((joint / joint.sum() * np.exp(exponent)).sum())
        measured = rate_losses(table, [alpha]) - rate_losses(table, [best])
        assert measured[0] == pytest.approx(regret, abs=1e-9)


@pytest.mark.parametrize("alpha", [1e-6, 0.2, 0.5, 0.95])
def test_the_mean_and_variance_of_the_switch_count_agree_with_the_enumerated_posterior(alpha: float) -> None:
    """One forward pass gives mean and variance of the number of switches under Q."""
    table = np.random.default_rng(8).exponential(2, (6, 3))
    sequences, joint = enumerated(table, share_prior(alpha, 3))
    switches = np.count_nonzero(np.diff(sequences), axis=1)
    mean = np.average(switches, weights=joint)
    counts = count_switches(table, alpha)
    assert counts.loss == pytest.approx(-math.log(joint.sum()), abs=1e-12)
    assert counts.excess == pytest.approx(mean - 5 * alpha, abs=1e-12)
    assert counts.variance == pytest.approx(np.average((switches - mean) ** 2, weights=joint), abs=1e-12)


def test_beta_is_the_curvature_of_the_loss_at_its_minimum() -> None:
    """beta* by the posterior's variance (2.20) equals the second difference of L_T (2.15)."""
    table = clear_best(switching_sequence(30, 7), 3, margin=2.0)
    best, step = best_rate(table), 1e-4
    left, middle, right = rate_losses(table, best.alpha + step * np.array([-1.0, 0.0, 1.0]))
    curvature = (left - 2 * middle + right) / step**2
    beta = count_switches(table, best.alpha).beta(best.alpha, 29)
    assert 0 < beta < 1
    assert beta == pytest.approx(best.alpha * (1 - best.alpha) / 29 * curvature, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_no_sequence_violates_theorem_1_or_corollary_1(kind) -> None:
    """No rate beats alpha*, and no bound is exceeded, on 200 sequences of each kind."""
    rng = np.random.default_rng(KINDS.index(kind))
    inside = 0
    for _ in range(PER_KIND):
        table = losses(kind, rng)
        rounds, best = len(table), best_rate(table)
        near = np.clip(best.alpha + rng.normal(scale=0.05, size=4), 0, 1)
        alphas = np.concatenate([[0.0, 1.0], rng.random(8), near, 10 ** rng.uniform(-8, 0, 4)])
        regret, slack = rate_losses(table, alphas) - best.loss, 1e-9 * max(1.0, best.loss)
        assert (regret <= upper_bound(rounds, best.alpha, alphas) + slack).all()
        assert (regret >= -slack).all()
        rates = switching_rates(rounds)
        learner = LearnAlpha(table.shape[1], rates)
        learnt = sum(learner.update(row) for row in table) - best.loss
        assert learnt <= learn_alpha_bound(rounds, best.alpha, rates) + slack
        # delta* = 1 / (2 T): no alpha* is further from a rate than that.
        optimal_bound = math.log(rates.size) + (rounds - 1) / (2 * rounds)
        assert learn_alpha_bound(rounds, best.alpha, rates) <= optimal_bound + 1e-12
        inside += 0 < best.alpha < 1
    assert inside > 20


@pytest.mark.parametrize("switches", [1, 10, 60])
def test_the_bound_is_attained_if_the_best_sequence_is_certain(switches: int) -> None:
    """The regret of any rate equals Theorem 1 if other sequences have a likelihood of exp(-1000)."""
    table = clear_best(switching_sequence(121, switches), 3, margin=1000.0)
    best = best_rate(table)
    alphas = np.linspace(0.02, 0.9, 12)
    regret = rate_losses(table, alphas) - best.loss
    assert best.alpha == pytest.approx(switches / 120, rel=1e-9)
    assert regret == pytest.approx(upper_bound(121, best.alpha, alphas), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("switches", [0, 3, 40, 150])
def test_corollary_1_is_tight_to_within_one_nat(switches: int) -> None:
    """The regret of Learn-alpha is within 1 nat of its bound if the data determine the rate."""
    rounds = 300
    table = clear_best(switching_sequence(rounds, switches), 3, margin=1000.0)
    rates = switching_rates(rounds)
    learner = LearnAlpha(3, rates)
    best = best_rate(table)
    regret = sum(learner.update(row) for row in table) - best.loss
    bound = learn_alpha_bound(rounds, best.alpha, rates)
    assert bound - 1 < regret <= bound


def test_the_best_expert_has_the_lowest_total_loss():
    """The first of equal experts is the best."""
    assert best_expert([[3.0, 1.0, 1.0], [0.0, 1.0, 1.0]]) == 1


def test_bounds_are_0_or_infinite_in_limiting_cases() -> None:
    """One round has no regret. A rate of 0 or 1 may have infinite regret."""
    assert upper_bound(1, 0.3, [0.0, 0.9]).tolist() == [0.0, 0.0]
    assert upper_bound(9, 0.3, [0.3, 0.0, 1.0]).tolist() == [0.0, math.inf, math.inf]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: upper_bound(0, 0.1, 0.2), "the number of rounds must be an integer >= 1, got 0"),
        (lambda: upper_bound(9, 1.1, 0.2), r"alpha\* must be a number >= 0 and <= 1, got 1.1"),
        (lambda: upper_bound(9, 0.1, [0.2, 2.0]), r"alpha must be numbers from 0 to 1, got \[0.2, 2.0\]"),
        (lambda: learn_alpha_bound(9, 0.1, []), "switching rates must be a non-empty list"),
    ],
)
def test_bounds_reject_invalid_rates_and_numbers_of_rounds(call, words: str) -> None:
    """The message has the value."""
    with pytest.raises(InputError, match=words):
        call()
