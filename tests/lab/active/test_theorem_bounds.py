"""Theorems on the uniform sphere as functions: by Monte Carlo, by equation, at hand-computed points."""

from __future__ import annotations

import math

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.lab.active import ModifiedPerceptron, Perceptron, theorem_bounds
from psm_sim.lab.active.sphere_instances import (
    error_of,
    similar_points,
    sphere_points,
    uniform_points,
    unit_vector,
)

POINTS = 200_000


@pytest.mark.parametrize("features", [2, 10, 50])
def test_the_share_of_a_band_lies_between_a_quarter_of_gamma_and_gamma(features):
    """Lemma 2 by Monte Carlo, 4 standard errors allowed."""
    first = uniform_points(np.random.default_rng(features), POINTS, features)[:, 0]
    for gamma in (0.05, 0.3, 1.0):
        least, most = theorem_bounds.band_share(gamma)
        share = np.mean(np.abs(first) <= gamma / features**0.5)
        slack = 4 * math.sqrt(share / POINTS)
        assert least - slack <= share <= most + slack


@pytest.mark.parametrize("features", [2, 10, 50])
@pytest.mark.parametrize("angle", [0.05, 0.5, 1.5])
def test_a_narrow_band_holds_at_least_a_quarter_errors(features, angle):
    """Lemma 6 by Monte Carlo, at its widest band and at a tenth of it."""
    points = uniform_points(np.random.default_rng(features), POINTS, features)
    v = np.eye(features)[0]
    u = math.cos(angle) * v + math.sin(angle) * np.eye(features)[1]
    wrong = (points @ u >= 0) != (points @ v >= 0)
    widest = theorem_bounds.error_in_band_width(math.sin(angle), features)
    for width in (widest, widest / 10):
        inside = np.abs(points @ v) < width
        if inside.sum() > 400:
            assert wrong[inside].mean() >= theorem_bounds.error_in_band() - 3 * 0.5 / inside.sum() ** 0.5


def test_a_lambda_similar_density_stays_within_lambda():
    """With keep = .25 lambda is .4, and the thinned quadrants hold half of lambda."""
    points = similar_points(np.random.default_rng(1), POINTS, 3, keep=0.25)
    share = np.mean(points[:, 0] * points[:, 1] <= 0)
    similarity = 2 * 0.25 / 1.25
    assert share == pytest.approx(similarity / 2, abs=0.005)
    assert theorem_bounds.error_in_band(similarity) == pytest.approx(similarity**2 / 4)
    assert np.linalg.norm(points, axis=1) == pytest.approx(np.ones(POINTS))


def test_the_error_of_a_half_space_is_its_angle_over_pi():
    """By Monte Carlo, at a right angle, at a tiny angle with all digits, and one half without a vector."""
    rng = np.random.default_rng(4)
    u, w = unit_vector(rng, 5), 3 * unit_vector(rng, 5)
    points, labels = sphere_points(rng, u)(POINTS)
    assert np.mean(labels * (points @ w) < 0) == pytest.approx(error_of(w, u), abs=0.005)
    assert error_of(np.array([0.0, 2.0]), np.array([5.0, 0.0])) == pytest.approx(0.5)
    assert error_of(np.array([1.0, 1e-9]), np.array([1.0, 0.0])) == pytest.approx(1e-9 / math.pi, rel=1e-9)
    assert error_of(np.zeros(2), np.ones(2)) == 0.5
    assert np.mean(sphere_points(rng, u, flips=0.1)(POINTS)[1] == 1) == pytest.approx(0.5, abs=0.01)


def test_modified_mistakes_suffice():
    """Theorem 4: ten runs in 5 dimensions reach error .05 within its mistakes, by far."""
    allowed = theorem_bounds.modified_mistakes(5, 0.05, 0.1)
    assert allowed == pytest.approx(150 * 5 * math.log(1000))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        u, learner, updates = unit_vector(rng, 5), ModifiedPerceptron(5), 0
        for x, y in zip(*sphere_points(rng, u)(2000), strict=True):
            updates += learner.learn(x, int(y))
            if error_of(learner.w, u) <= 0.05:
                break
        assert error_of(learner.w, u) <= 0.05
        assert updates <= allowed


def test_an_update_shrinks_the_distance_often_enough():
    """Lemma 4: an update shrinks 1 - v.u by 1 - 1/(50 d) with probability at least 1/3."""
    rng, good, total = np.random.default_rng(6), 0, 0
    for _ in range(400):
        u, learner = unit_vector(rng, 8), ModifiedPerceptron(8)
        w = unit_vector(rng, 8)
        learner.learn(w if w @ u >= 0 else -w, 1)
        for x, y in zip(*sphere_points(rng, u)(40), strict=True):
            before = 1 - learner.w @ u
            if learner.learn(x, int(y)):
                total += 1
                good += bool(1 - learner.w @ u <= before * theorem_bounds.modified_shrink(8))
    assert total > 1000
    assert good / total > 1 / 3


def test_a_perceptron_keeps_its_mistake_bound_and_its_floor():
    """At most 1/g^2 mistakes with margin g; the angle stays above Theorem 3's floor after every update."""
    rng = np.random.default_rng(7)
    u, learner, updates = unit_vector(rng, 4), Perceptron(4), 0
    X = uniform_points(rng, 4000, 4)
    X = X[np.abs(X @ u) > 0.1]
    for x in X:
        updates += learner.learn(x, 1 if x @ u >= 0 else -1)
        floor = theorem_bounds.perceptron_angle_floor(updates)
        assert math.sin(math.pi * error_of(learner.w, u)) >= floor or updates > 5
    assert 5 < updates <= theorem_bounds.perceptron_mistakes(0.1)
    assert theorem_bounds.perceptron_mistakes(0.5, radius=2.0) == pytest.approx(16)
    assert theorem_bounds.perceptron_angle_floor(100) == pytest.approx(1 / 50)
    assert theorem_bounds.perceptron_angle_floor(0) == 1 / 3
    assert theorem_bounds.perceptron_angle_floor(9, start=4.0) == pytest.approx(1 / 25)


@pytest.mark.parametrize("similarity", [1.0, 0.4])
@pytest.mark.parametrize("labels", [10, 10_000])
def test_the_patience_of_dkm_solves_its_equation(similarity, labels):
    """R = C / lambda^2 ln(2 L / (delta R)), and Lemma 5 then fails with at most delta / 4."""
    R = theorem_bounds.dkm_patience(labels, 0.05, similarity)
    assert pytest.approx(10 / similarity**2 * math.log(2 * labels / (0.05 * R))) == R
    if labels == 10_000:
        assert theorem_bounds.dkm_band_failure(labels, math.ceil(R)) <= 0.05 / 4


def test_the_other_statements_of_theorems_5_and_7():
    """At hand-computed points."""
    assert theorem_bounds.dkm_band_floor(0.8, 4) == pytest.approx(0.1)
    assert theorem_bounds.dkm_query_share() == 1 / 32
    assert theorem_bounds.dkm_query_share(0.5) == pytest.approx(1 / 512)
    assert theorem_bounds.dkm_errors(80) == 64 * 80
    assert theorem_bounds.dkm_errors(1, 0.5) == pytest.approx(64 * 16)
    assert theorem_bounds.dkm_updates(10, 0.1, 0.5, c=0.5) == pytest.approx(40 * math.log(80))
    assert theorem_bounds.dkm_last_band(3, 80, 16) == pytest.approx(0.25)


@pytest.mark.parametrize(
    "call",
    [
        lambda: theorem_bounds.band_share(1.5),
        lambda: theorem_bounds.perceptron_mistakes(0.0),
        lambda: theorem_bounds.modified_mistakes(5, 0.0, 0.1),
        lambda: theorem_bounds.dkm_patience(10, 2.0),
        lambda: theorem_bounds.dkm_query_share(0.0),
    ],
)
def test_a_guarantee_refuses_what_it_cannot_mean(call):
    """One sentence with the value and the range."""
    with pytest.raises(InputError, match="must be > 0"):
        call()
