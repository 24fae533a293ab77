"""Losses of the best sequences with k switches, compared with brute force, and their laws."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.learning import best_switching


def brute_force(table, most):
    """Return the minimum loss with at most k switches over all sequences, k = 0 .. most."""
    rounds, n = table.shape
    best = np.full(most + 1, np.inf)
    for sequence in itertools.product(range(n), repeat=rounds):
        switches = np.count_nonzero(np.diff(sequence))
        loss = table[np.arange(rounds), sequence].sum()
        best[switches:] = np.minimum(best[switches:], loss)
    return best


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 7), st.integers(0, 10_000))
def test_the_lowest_losses_for_each_number_of_switches_equal_brute_force(rounds, n, most, seed) -> None:
    """Every k is tried, with ties and useless switches."""
    table = np.random.default_rng(seed).integers(0, 6, (rounds, n)) / 4
    assert best_switching(table, most) == pytest.approx(brute_force(table, most), abs=1e-12)


def test_more_switches_lower_the_loss_from_that_of_the_best_expert_to_the_minimum_of_each_round() -> None:
    """More switches never increase the loss."""
    table = np.random.default_rng(4).exponential(1, (80, 4))
    totals = best_switching(table, 79)
    assert totals[0] == pytest.approx(table.sum(axis=0).min())
    assert totals[-1] == pytest.approx(table.min(axis=1).sum())
    assert (np.diff(totals) <= 1e-12).all()


def test_experts_with_infinite_loss_are_avoided() -> None:
    """Another path must be finite."""
    table = np.array([[0.0, 5.0], [np.inf, 5.0], [0.0, 5.0]])
    assert best_switching(table, 2).tolist() == [15.0, 10.0, 5.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: best_switching([[1.0]], -1), "the number of switches must be an integer >= 0, got -1"),
        (lambda: best_switching([1.0], 1), r"shape \(rounds, experts\), .*, got \(1,\)"),
        (lambda: best_switching([[1.0], [np.nan]], 1), "round 2: the loss of expert 0 must be .* got nan"),
        (lambda: best_switching([["x"]], 1), "the losses must be a table of numbers"),
    ],
)
def test_invalid_input_is_an_error(call, words: str) -> None:
    """The message has the value."""
    with pytest.raises(InputError, match=words):
        call()
