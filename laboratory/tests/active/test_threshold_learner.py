"""ISAL in one dimension: contraction, region, unbiased weights and samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psm_lab.active.noisy_threshold_learner import Isalg1d, error_profile, weighted_error
from psm_lab.active.threshold_learner import Isal1d, isal_contraction
from scipy.integrate import quad
from scipy.stats import norm

from psm_sim.common.summary_stats import confidence_interval

WIDTHS = (0.1, 0.25, 0.5, 1.0, 2.0)
ALPHAS = (0.5798, 0.6952, 0.8156, 0.9023, 0.9504)


def test_the_contraction_agrees_with_the_published_values():
    """alpha(s) agrees with the table of the specification to 1e-4."""
    assert [isal_contraction(s) for s in WIDTHS] == pytest.approx(ALPHAS, abs=1e-4)


@given(st.floats(0.05, 3))
def test_the_contraction_is_the_mean_remaining_length_of_the_region(s):
    """A sample outside leaves the whole region, and one inside leaves the longer part."""
    longer = quad(lambda x: (0.5 + abs(x)) * norm.pdf(x, 0, s), -0.5, 0.5)[0]
    assert isal_contraction(s) == pytest.approx(longer + 2 * norm.sf(0.5, 0, s), abs=1e-7)


@pytest.mark.parametrize(("s", "alpha"), list(zip(WIDTHS, ALPHAS, strict=True)))
def test_the_mean_contraction_of_worst_labels_obeys_its_bound(s, alpha):
    """Each of 4000 samples is answered so that the longer part is left."""
    left = []
    for replication in range(4000):
        learner = Isal1d(s=s, replication=replication)
        learner.tell(-1 if learner.ask() < 0.5 else 1)
        left.append(learner.width)
    interval = confidence_interval(left)
    assert interval.mean <= alpha + interval.half_width
    assert interval.mean == pytest.approx(alpha, abs=0.02)


@given(st.integers(0, 10_000), st.floats(0.05, 2), st.floats(0.01, 0.99))
def test_the_threshold_never_leaves_the_region(seed, s, target):
    """The region only shrinks."""
    learner = Isal1d(s=s, seed=seed)
    for _ in range(30):
        before = learner.width
        learner.tell(1 if learner.ask() >= target else -1)
        assert learner.width <= before
        assert learner.low <= target <= learner.high


def test_the_weighted_error_stays_unbiased_while_the_learner_adapts():
    """Isalg1d chooses each q by the earlier labels."""
    rng, estimates = np.random.default_rng(0), []
    for replication in range(150):
        learner = Isalg1d(replication=replication)
        learner.run(lambda x: (1 if x >= 0.6 else -1) * (1 if rng.random() < 0.9 else -1), 20)
        x, y, weights = (np.array(column) for column in zip(*learner._answers, strict=True))
        estimates.append(weighted_error(np.where(x >= 0.3, 1, -1), y, weights))
    interval = confidence_interval(estimates)
    assert abs(interval.mean - (0.7 * 0.1 + 0.3 * 0.9)) < 1.5 * interval.half_width
    assert interval.half_width < 0.05


def test_the_error_profile_agrees_with_the_hand_computed_profile():
    """Four weighted instances give the error of every threshold, the best step, and its rivals."""
    x, y = np.array([0.8, 0.2, 0.4, 0.6]), np.array([1, -1, 1, -1])
    profile = error_profile(x, y, np.array([1.0, 1.0, 1.0, 2.0]))
    assert profile.edges.tolist() == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert profile.errors == pytest.approx([0.75, 0.5, 0.75, 0.25, 0.5])
    assert profile.threshold == pytest.approx(0.7)
    assert profile.alternative == pytest.approx([0.75, 0.5, 0.5, 0.25, 0.5])


@pytest.mark.parametrize("seed", range(5))
def test_the_errors_of_rival_hypotheses_agree_with_brute_force(seed):
    """A rival labels an instance otherwise. Brute force takes the minimum error of rivals on a fine grid."""
    rng = np.random.default_rng(seed)
    x, y, weights = rng.random(12), rng.choice([-1, 1], 12), rng.exponential(size=12)
    profile = error_profile(x, y, weights)
    grid = np.linspace(0.0005, 0.9995, 1000)
    errors = np.array([weights @ (np.where(x >= c, 1, -1) != y) / 12 for c in grid])
    for threshold_ in (0.01, 0.3, 0.55, 0.99):
        step = np.searchsorted(profile.edges, threshold_) - 1
        other = grid > threshold_ if threshold_ >= profile.threshold else grid <= threshold_
        if other.any() and step != profile.best:
            assert profile.alternative[step] == pytest.approx(errors[other].min(), abs=1e-9)


def test_samples_are_centred_on_the_region_and_have_the_minimum_width():
    """Lemma 2: of all Gaussians, theirs has the most mass within the region."""
    learner = Isalg1d(eta=0.0)
    learner._answers = [(0.3, -1, 1.0), (0.7, 1, 1.0)]
    samples = [learner._next() for _ in range(50)]
    assert np.mean(samples) == pytest.approx(0.5, abs=0.01)
    assert np.std(samples) == pytest.approx(0.02, abs=0.006)


def test_without_noise_isalg_finds_the_threshold():
    """The error after 25 labels is below 0.01; uniform samples would leave about 0.04."""
    errors_by_eta: dict[float, list[float]] = {0.2: [], 1.0: []}
    for replication in range(20):
        for eta, errors in errors_by_eta.items():
            learner = Isalg1d(eta=eta, replication=replication)
            errors.append(abs(learner.run(lambda x: 1 if x >= 0.54 else -1, 25) - 0.54))
    assert np.median(errors_by_eta[0.2]) < 0.01
    assert np.median(errors_by_eta[0.2]) < 0.5 * np.median(errors_by_eta[1.0])
