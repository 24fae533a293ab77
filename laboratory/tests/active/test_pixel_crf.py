"""The conditional random field on a grid: probabilities, segmentation and training."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psm_lab.active.pixel_crf import Crf, Image, entropies, fit_field, fit_unlabelled, standardise_images

ROWS, COLUMNS, FEATURES = 3, 4, 2


def example(seed=0):
    """Return an image, its numbers, labels and a field, all at random."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, COLUMNS, FEATURES))
    theta = Crf(rng.normal(size=FEATURES + 1), 0.5 * rng.normal(size=FEATURES + 1))
    return Image(x), x, rng.choice([-1, 1], (ROWS, COLUMNS)), theta


def near(i, j):
    """Return the neighbours of a pixel: north, south, west, east."""
    around = ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))
    return [(a, b) for a, b in around if 0 <= a < ROWS and 0 <= b < COLUMNS]


@pytest.mark.parametrize("seed", range(5))
def test_local_probabilities_agree_with_equation_4_5(seed):
    """sigma(margin) is the normalised exp(Phi + sum Psi) of each pixel."""
    image, x, y, theta = example(seed)
    margins = image.margins(theta, y)

    def potential(label, i, j):
        association = -math.log1p(math.exp(-label * (theta.w[0] + theta.w[1:] @ x[i, j])))
        pairs = [theta.v[0] - theta.v[1:] @ np.abs(x[i, j] - x[n]) for n in near(i, j)]
        return association + sum(label * y[n] * pair for n, pair in zip(near(i, j), pairs, strict=True))

    for i, j in itertools.product(range(ROWS), range(COLUMNS)):
        up, down = math.exp(potential(1, i, j)), math.exp(potential(-1, i, j))
        assert 1 / (1 + math.exp(-margins[i, j])) == pytest.approx(up / (up + down))


def test_the_influence_of_the_neighbours_equals_a_double_loop_over_all_pixels():
    image, x, y, _ = example()
    sums = image.neighbours(y)
    for i, j in itertools.product(range(ROWS), range(COLUMNS)):
        by_hand = sum(y[n] * np.append(1, -np.abs(x[i, j] - x[n])) for n in near(i, j))
        assert sums[i, j] == pytest.approx(by_hand)


@given(st.integers(0, 10_000))
def test_segmentation_ends_when_every_pixel_has_its_more_probable_label(seed):
    """The agreement is never less than at the start."""
    image, _, _, theta = example(seed)
    y = image.segment(theta)
    assert (y == np.where(image.margins(theta, y) >= 0, 1, -1)).all()

    def agreement(labels):
        pairs = (image.margins(theta, labels) - image.association(theta)) / 4
        return (labels * (image.association(theta) / 2 + pairs)).sum()

    assert agreement(y) >= agreement(np.where(image.association(theta) >= 0, 1, -1)) - 1e-9


def test_a_field_of_zeros_labels_every_pixel_positive_at_maximum_entropy():
    """A field of zeros labels every pixel 1, at the entropy of a fair Bernoulli draw per pixel."""
    image = example()[0]
    assert (image.segment(Crf.zero(FEATURES)) == 1).all()
    assert image.entropy(Crf.zero(FEATURES)) == pytest.approx(ROWS * COLUMNS * math.log(2))


@given(st.floats(-30, 30))
def test_the_entropy_of_a_pixel_follows_from_its_probability(margin):
    """The entropy is -p ln p - q ln q."""
    p = 1 / (1 + math.exp(-margin))
    q = 1 / (1 + math.exp(margin))
    assert entropies(np.array([margin]))[0] == pytest.approx(-p * math.log(p) - q * math.log(q), abs=1e-12)


def pseudo_likelihood(theta, images, labels):
    """Return the penalised log pseudo-likelihood of (4.6)."""
    fit = -sum(np.logaddexp(0, -y * i.margins(theta, y)).sum() for i, y in zip(images, labels, strict=True))
    return fit - (theta.w[1:] @ theta.w[1:] + theta.v @ theta.v) / 2


def test_no_random_field_near_the_joint_fit_is_more_likely():
    """The pseudo-likelihood is concave, so a local maximum is global. Staged fits reach less."""
    images, labels = zip(*[example(seed)[::2] for seed in range(3)], strict=True)
    joint = fit_field(images, labels, staged=False)
    best, rng = pseudo_likelihood(joint, images, labels), np.random.default_rng(0)
    for _ in range(50):
        other = Crf(joint.w + 0.01 * rng.normal(size=3), joint.v + 0.01 * rng.normal(size=3))
        assert pseudo_likelihood(other, images, labels) < best
    assert pseudo_likelihood(fit_field(images, labels), images, labels) <= best


def test_the_staged_fit_has_the_weights_of_the_logistic_regression():
    """Interaction then only increases the likelihood."""
    images, labels = zip(*[example(seed)[::2] for seed in range(3)], strict=True)
    staged, alone = fit_field(images, labels), fit_field(images, labels, pairs=False)
    assert staged.w == pytest.approx(alone.w)
    assert not alone.v.any()
    assert pseudo_likelihood(staged, images, labels) >= pseudo_likelihood(alone, images, labels)


def test_a_field_fitted_to_an_image_without_sky_is_finite():
    """The penalty keeps the weight of the constant feature finite."""
    image = example()[0]
    theta = fit_field([image], [np.full((ROWS, COLUMNS), -1)])
    assert np.isfinite([*theta.w, *theta.v]).all()
    assert (image.segment(theta) == -1).all()


def test_the_fit_without_labels_leaves_the_stationary_field_of_zeros():
    """From the principal direction, the entropy falls (erratum)."""
    image = example()[0]
    step = 1e-4 * np.ones(FEATURES + 1)
    rise = image.entropy(Crf(step, step)) - image.entropy(Crf.zero(FEATURES))
    assert abs(rise) < 1e-6
    theta = fit_unlabelled(image)
    assert image.entropy(theta) < 0.7 * image.entropy(Crf.zero(FEATURES))
    assert not theta.v.any()


def test_the_pixels_of_all_standardised_images_have_mean_0_and_deviation_1():
    """A constant feature becomes 0."""
    rng = np.random.default_rng(0)
    images = [np.dstack([rng.random((4, 5)), np.ones((4, 5))]) for _ in range(3)]
    pixels = np.concatenate([image_.reshape(-1, 2) for image_ in standardise_images(images)])
    assert pixels.mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert pixels.std(axis=0) == pytest.approx([1, 0])
