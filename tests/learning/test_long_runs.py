"""Learners over many rounds."""

import numpy as np
import pytest

from psm_sim.learning import FixedShare, LearnAlpha, StaticExpert, switching_rates

ROUNDS = 50_000


@pytest.mark.parametrize(
    "make",
    [
        lambda: LearnAlpha(n_experts=12, rates=switching_rates(horizon=2_700)),
        lambda: FixedShare(12, 1e-6),
        lambda: StaticExpert(12),
    ],
)
def test_weights_stay_a_distribution_over_fifty_thousand_rounds(make) -> None:
    """Losses are up to 1e4.

    Weights have no NaN and sum to 1 within 1e-12, none is 0 with sharing, and the loss is exact.
    """
    rng, learner = np.random.default_rng(9), make()
    suffered, best = 0.0, np.zeros(12)
    for batch in range(ROUNDS // 1000):
        table = rng.random((1000, 12)) * rng.choice([1.0, 1e2, 1e4])
        best += table.sum(axis=0)
        for row in table:
            suffered += learner.update(row)
        weights = learner.weights
        assert np.isfinite(weights).all()
        assert weights.min() > 0 or isinstance(learner, StaticExpert)
        assert abs(weights.sum() - 1) < 1e-12
        assert learner.rounds == (batch + 1) * 1000
    if isinstance(learner, StaticExpert):
        assert suffered == pytest.approx(best.min() + np.log(12), rel=1e-9)
    else:
        assert np.isfinite(suffered)
        assert suffered < best.min()
