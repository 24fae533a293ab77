"""The curve L(alpha), and alpha*, its minimum."""

import numpy as np
import pytest

from psm_sim.learning import FixedShare, best_rate, rate_losses
from tests.learning.sequences import KINDS, clear_best, losses, switching_sequence


def test_the_curve_equals_the_loss_of_fixed_share_at_every_rate() -> None:
    """A single pass gives the losses of all rates, including 0 and 1."""
    table = np.random.default_rng(1).exponential(4, (150, 5))
    rates = [0.0, 1e-9, 0.1, 0.5, 0.8, 1.0]
    alone = []
    for rate in rates:
        learner = FixedShare(5, rate)
        alone.append(sum(learner.update(row) for row in table))
    assert rate_losses(table, rates) == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_no_rate_of_a_dense_grid_has_a_lower_loss_than_the_best_rate(kind) -> None:
    """The 2,000 rates are dense at the ends; each kind has 15 sequences."""
    rng = np.random.default_rng(100 + KINDS.index(kind))
    ends = np.geomspace(1e-9, 0.5, 500)
    grid = np.concatenate([np.linspace(0, 1, 1000), ends, 1 - ends])
    for _ in range(15):
        table = losses(kind, rng)
        best = best_rate(table)
        assert best.loss <= rate_losses(table, grid).min() + 1e-9 * max(1, best.loss)
        assert best.loss == pytest.approx(rate_losses(table, [best.alpha])[0], rel=1e-10, abs=1e-10)


def test_if_margins_are_large_the_best_rate_is_the_share_of_rounds_with_a_switch() -> None:
    """Margins are 1000 nats. alpha* is k / (T - 1) for all k, including 0 and T - 1."""
    for switches in (0, 1, 12, 199):
        sequence = switching_sequence(200, switches, n=4)
        best = best_rate(clear_best(sequence, 4, 1000.0))
        assert best.alpha == pytest.approx(switches / 199, rel=1e-9)


def test_the_best_rate_is_0_if_the_curve_is_flat() -> None:
    """The curve is flat for equal experts, one expert or one round."""
    equal = np.repeat(np.random.default_rng(5).exponential(3, (40, 1)), 3, axis=1)
    for table in (equal, equal[:, :1], np.array([[0.5, 2.0]])):
        best = best_rate(table)
        assert best.alpha == 0.0
    assert best_rate(equal).loss == pytest.approx(equal[:, 0].sum())


def test_a_rate_that_excludes_every_finite_sequence_has_infinite_loss() -> None:
    """Two experts are removed alternately, so a finite sequence switches."""
    table = np.array([[0.0, np.inf], [np.inf, 0.0], [np.inf, 0.0]])
    assert rate_losses(table, [0.0, 0.5, 1.0])[[0, 2]].tolist() == [np.inf, np.inf]
    assert best_rate(table).alpha == pytest.approx(0.5)
