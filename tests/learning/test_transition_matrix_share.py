"""Fixed-share with any transition matrix: enumeration, special cases and the learner's contract."""

import copy
import itertools
import json
import math

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.learning import FixedShare, StaticExpert, TransitionShare

CHAIN = np.array([[0.7, 0.3, 0.0], [0.1, 0.6, 0.3], [0.0, 1.0, 0.0]])


def test_it_equals_the_sum_over_all_sequences() -> None:
    """The cumulative loss under a matrix with zeros, by enumeration of (2.5)."""
    table = np.random.default_rng(1).exponential(2, (6, 3))
    learner = TransitionShare(CHAIN)
    suffered = sum(learner.update(row) for row in table)
    total = 0.0
    for sequence in itertools.product(range(3), repeat=6):
        prior = np.prod([CHAIN[j, i] for j, i in itertools.pairwise(sequence)]) / 3
        total += prior * math.exp(-table[np.arange(6), sequence].sum())
    assert suffered == pytest.approx(-math.log(total), abs=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 1.0])
def test_the_fixed_share_matrix_gives_fixed_share(alpha: float) -> None:
    """Round by round the same losses and weights."""
    matrix = np.full((4, 4), alpha / 3)
    np.fill_diagonal(matrix, 1 - alpha)
    general, special = TransitionShare(matrix), FixedShare(4, alpha)
    for row in np.random.default_rng(2).exponential(3, (200, 4)):
        assert general.update(row) == pytest.approx(special.update(row), abs=1e-12)
        assert general.weights == pytest.approx(special.weights, abs=1e-12)


def test_huge_losses_keep_the_weights_a_distribution() -> None:
    """The identity matrix is Static-expert, also where exp underflows."""
    general, special = TransitionShare(np.eye(3)), StaticExpert(3)
    for row in np.random.default_rng(3).random((500, 3)) * 1e4:
        assert general.update(row) == pytest.approx(special.update(row), rel=1e-12)
        assert abs(general.weights.sum() - 1) < 1e-12


def test_it_is_copied_saved_and_loaded() -> None:
    """A copy and a learner that loads the state, through JSON, go on alike."""
    learner, fresh = TransitionShare(CHAIN), TransitionShare(CHAIN)
    learner.update([3.0, 0.0, math.inf])
    fresh.load_state(json.loads(json.dumps(learner.state(), allow_nan=False)))
    assert fresh.weights == pytest.approx(learner.weights, abs=1e-15)
    twin = copy.deepcopy(learner)
    assert twin.update([1.0, 2.0, 0.5]) == learner.update([1.0, 2.0, 0.5])
    with pytest.raises(InputError, match="has transitions"):
        TransitionShare(np.eye(3)).load_state(learner.state())


def test_a_round_that_leaves_no_expert_is_refused() -> None:
    """Weight that the matrix cannot move is lost with its expert."""
    learner = TransitionShare(np.eye(2))
    learner.update([math.inf, 0.0])
    with pytest.raises(InputError, match="round 2: every expert with positive weight"):
        learner.update([0.0, math.inf])


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.5, 0.5]], r"must have n rows of n numbers, got shape \(1, 2\)"),
        ([], "must have n rows of n numbers"),
        ("chain", "the transitions must be a table of numbers"),
        ([[1.0, 0.0], [0.7, 0.7]], r"after expert 1 must be nonnegative and sum to 1, got \[0.7, 0.7\]"),
        ([[1.5, -0.5], [0.5, 0.5]], r"after expert 0 must be .* got \[1.5, -0.5\]"),
        ([[math.nan, 1.0], [0.5, 0.5]], "after expert 0 must be"),
    ],
)
def test_what_is_no_transition_matrix_is_refused(matrix, words: str) -> None:
    """Rows must be distributions; the first that is not is named."""
    with pytest.raises(InputError, match=words):
        TransitionShare(matrix)
