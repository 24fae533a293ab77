"""Stratified sampling."""

from __future__ import annotations

import numpy as np
import pytest

from psm_sim.workload.distributions import QuantileDistribution
from psm_sim.workload.page_sampler import stratified_draws, stratified_integers

TAIL = QuantileDistribution(np.array([0, 0.9, 0.99, 1]), np.array([1, 10, 100, 10_000]), "log")
EVEN = QuantileDistribution(np.array([0, 1]), np.array([0, 100]))


def test_exactly_one_sample_is_drawn_from_each_stratum() -> None:
    """A hundred samples from 0 to 100 are one per unit interval, in random order."""
    drawn = stratified_draws(EVEN, 100, np.random.default_rng(1), wander=None)
    assert sorted(np.floor(drawn).astype(int)) == list(range(100))
    assert list(drawn) != sorted(drawn)
    assert stratified_draws(EVEN, 0, np.random.default_rng(1)).size == 0


@pytest.mark.parametrize("n", [1, 10, 100, 1000])
def test_the_mean_of_a_heavy_tail_varies_little_between_seeds(n: int) -> None:
    """Every mean is within 3 % of that of the distribution; independent samples deviate by far more."""
    means = [stratified_draws(TAIL, n, np.random.default_rng(seed)).mean() for seed in range(200)]
    assert np.abs(np.array(means) / TAIL.mean - 1).max() < 0.03
    assert np.mean(means) == pytest.approx(TAIL.mean, rel=0.005)
    if n == 100:
        plain = [TAIL.at(np.random.default_rng(seed).random(n)).mean() for seed in range(200)]
        assert np.std(plain) > 10 * np.std(means)


def test_sampling_can_be_restricted_to_the_lowest_quantiles() -> None:
    """Samples up to probability 0.9 are below its quantile and have the conditional mean."""
    drawn = stratified_draws(TAIL, 1000, np.random.default_rng(3), max_probability=0.9)
    assert drawn.max() <= 10
    assert drawn.mean() == pytest.approx(float(TAIL.integral(0.9)) / 0.9, rel=1e-3)


def test_random_rounding_conserves_the_expectation() -> None:
    """2.3 becomes 2 or 3 with a mean of 2.3; integers are unchanged."""
    random = np.random.default_rng(4)
    assert stratified_integers(np.full(100_000, 2.3), random).mean() == pytest.approx(2.3, abs=0.01)
    assert set(stratified_integers(np.full(1000, 5.0), random)) == {5}
