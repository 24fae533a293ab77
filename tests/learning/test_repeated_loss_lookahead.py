"""Lookahead and fast-forward over many rounds with the same losses."""

from __future__ import annotations

from itertools import chain, islice

import numpy as np
import pytest

from psm_sim.common.array_types import FloatArray
from psm_sim.learning import FixedShare, LearnAlpha, Learner, StaticExpert, switching_rates
from psm_sim.learning.repeated_loss_lookahead import Eigenmodes, compute_eigenmodes

TIMES_MS = np.arange(100.0, 1201.0, 100.0)
LOSSES = {"1/T": 1 / TIMES_MS, "1/log T": 1 / np.log(TIMES_MS)}
RATES = switching_rates(2_700)


def modes_for(losses: FloatArray) -> Eigenmodes | None:
    return compute_eigenmodes(RATES.tobytes(), losses.tobytes())


def learned(learner: Learner, rounds: int = 50) -> Learner:
    rng = np.random.default_rng(3)
    for _ in range(rounds):
        learner.update(rng.random(learner.n_experts) * 3)
    return learner


def twins(kind: str) -> tuple[Learner, Learner]:
    if kind == "fixed-share":
        return learned(FixedShare(12, 0.02)), learned(FixedShare(12, 0.02))
    return learned(LearnAlpha(12, RATES)), learned(LearnAlpha(12, RATES))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["fixed-share", "learn-alpha"])
def test_lookahead_predictions_equal_those_of_single_rounds(kind, loss):
    """Each mean is within 1e-9 ms, in 600 rounds over several blocks."""
    looking, walking = twins(kind)
    ahead = looking.lookahead(LOSSES[loss])
    assert ahead is not None
    means_ms = list(islice(chain.from_iterable(ahead.predictions(TIMES_MS)), 600))
    for mean_ms in means_ms:
        walking.update(LOSSES[loss])
        assert mean_ms == pytest.approx(walking.predict(TIMES_MS), abs=1e-9, rel=0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["fixed-share", "learn-alpha"])
@pytest.mark.parametrize("rounds", [1, 2, 31, 1000, 50_000])
def test_a_fast_forward_gives_the_same_weights_as_single_rounds(kind, loss, rounds):
    """Every weight is within 1e-9, and the number of rounds is equal, also for evidence below 1e-300."""
    leaping, walking = twins(kind)
    ahead = leaping.lookahead(LOSSES[loss])
    assert ahead is not None
    ahead.learn(rounds)
    for _ in range(rounds):
        walking.update(LOSSES[loss])
    assert leaping.rounds == walking.rounds
    assert leaping.weights == pytest.approx(walking.weights, abs=1e-9, rel=0)
    if kind == "learn-alpha":
        leapt, walked = leaping._bank.weights, walking._bank.weights
        assert leapt == pytest.approx(walked, abs=1e-9, rel=0)


@pytest.mark.parametrize("loss", LOSSES)
def test_omitting_negligible_rates_does_not_change_the_predictions(loss):
    """The same expert was best in 2,000 rounds, so few of 83 rates have a weight."""
    learner, losses = LearnAlpha(12, RATES), (np.arange(12) != 3) * 3.0
    for _ in range(2_000):
        learner.update(losses)
    modes = modes_for(LOSSES[loss])
    ahead = learner.lookahead(LOSSES[loss])
    assert modes is not None
    assert ahead is not None
    rates = modes.visible_rates(learner.rate_weights)
    assert 1 <= rates.stop - rates.start < RATES.size / 2
    means_ms = next(ahead.predictions(TIMES_MS))
    for mean_ms in means_ms:
        learner.update(LOSSES[loss])
        # The decision is within a billionth of a beacon; rounding errors differ between NumPy versions.
        assert mean_ms == pytest.approx(learner.predict(TIMES_MS), rel=1e-11)


def test_a_rate_that_can_recover_within_a_block_is_not_omitted():
    """The weight of the rate is the smallest that can recover by the evidence of 256 rounds."""
    modes = modes_for(LOSSES["1/T"])
    assert modes is not None
    nats = float(np.ptp(LOSSES["1/T"]))
    weights = np.zeros(RATES.size)
    weights[40], weights[10] = 1.0, 2e-17 / RATES.size * np.exp(-256 * nats)
    assert modes.visible_rates(weights) == slice(10, 41)
    weights[10] /= 4
    assert modes.visible_rates(weights) == slice(40, 41)


def test_lookahead_does_not_change_the_learner():
    """The weights are bit-for-bit equal."""
    learner, _ = twins("learn-alpha")
    before = learner.weights.tolist(), learner.rate_weights.tolist()
    ahead = learner.lookahead(LOSSES["1/T"])
    assert ahead is not None
    list(islice(ahead.predictions(TIMES_MS), 3))
    ahead.after(70)
    assert (learner.weights.tolist(), learner.rate_weights.tolist()) == before


def test_no_lookahead_is_possible_without_eigenmodes():
    """The cases have rates of 0 or 1, one or many experts, and distant or infinite losses."""
    flat = np.zeros(3)
    assert StaticExpert(3).lookahead(flat) is None
    assert FixedShare(3, 0.0).lookahead(flat) is None
    assert FixedShare(3, 1.0).lookahead(flat) is None
    assert FixedShare(1, 0.1).lookahead(np.zeros(1)) is None
    assert FixedShare(3, 0.1).lookahead(np.array([0.0, 1.0, 3.0])) is None
    assert FixedShare(3, 0.1).lookahead(np.array([0.0, 1.0, np.inf])) is None
    assert FixedShare(500, 0.1).lookahead(np.zeros(500)) is None
    assert FixedShare(3, 0.1).lookahead(flat) is not None


def test_eigenmodes_are_computed_once_for_the_same_rates_and_losses():
    """Runs in a process share them."""
    assert modes_for(LOSSES["1/T"]) is modes_for(LOSSES["1/T"].copy())


@pytest.mark.parametrize("rounds", [1, 2, 7, 64, 1000])
def test_the_decay_of_an_eigenmode_over_n_rounds_is_the_nth_power_of_its_ratio(rounds):
    """Ratios of both signs agree with NumPy."""
    modes = modes_for(LOSSES["1/T"])
    assert modes is not None
    assert modes.ratios.min() < 0 < modes.ratios.max()
    assert modes.decay(rounds) == pytest.approx(modes.ratios**rounds, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("n", [2, 3, 12])
def test_the_powers_for_every_round_of_a_block_are_computed_from_a_few_powers(n):
    """The tolerance is 1e-12. Two experts have eigenvalues down to -1, and no round is omitted."""
    modes = modes_for(np.linspace(0, 0.1, n))
    assert modes is not None
    powers, between = modes.powers
    relative = (modes.ratios * np.exp(modes.logs - modes.logs.max())).T.ravel()
    expected = relative[:, None] ** np.arange(1, between.shape[1] + 1)
    assert np.abs(powers.reshape(relative.size, -1) @ between - expected).max() < 1e-12
    assert (between.shape[1] == powers.shape[-1]) is bool(relative.min() < -0.1)
