"""Points on the uniform sphere, and bounds of theorems on learners."""

from __future__ import annotations

import math

import numpy as np
import pytest
from psm_lab.active import theorem_bounds
from psm_lab.active.perceptrons import ModifiedPerceptron, Perceptron
from psm_lab.active.sphere_instances import (
    error_of,
    similar_points,
    sphere_points,
    uniform_points,
    unit_vector,
)

POINTS = 200_000


def test_a_lambda_similar_density_stays_within_lambda():
    """With keep = 0.25 lambda is 0.4, and the thinned quadrants have half of lambda."""
    points = similar_points(np.random.default_rng(1), POINTS, 3, keep=0.25)
    share = np.mean(points[:, 0] * points[:, 1] <= 0)
    similarity = 2 * 0.25 / 1.25
    assert share == pytest.approx(similarity / 2, abs=0.005)
    assert np.linalg.norm(points, axis=1) == pytest.approx(np.ones(POINTS))


def test_the_error_of_a_half_space_is_its_angle_to_the_target_over_pi():
    """The cases are a Monte Carlo estimate, a right angle, a tiny angle in all digits, and a zero vector."""
    rng = np.random.default_rng(4)
    u, w = unit_vector(rng, 5), 3 * unit_vector(rng, 5)
    points, labels = sphere_points(rng, u)(POINTS)
    assert np.mean(labels * (points @ w) < 0) == pytest.approx(error_of(w, u), abs=0.005)
    assert error_of(np.array([0.0, 2.0]), np.array([5.0, 0.0])) == pytest.approx(0.5)
    assert error_of(np.array([1.0, 1e-9]), np.array([1.0, 0.0])) == pytest.approx(1e-9 / math.pi, rel=1e-9)
    assert error_of(np.zeros(2), np.ones(2)) == 0.5


def test_the_modified_perceptron_reaches_its_target_error_within_its_mistake_bound():
    """Theorem 4: ten runs in 5 dimensions reach an error of 0.05 far below the bound."""
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


def test_a_perceptron_obeys_its_mistake_bound_and_its_lower_bound():
    """At margin g there are at most 1/g^2 mistakes, and the angle is at least 1 / (5 sqrt(updates))."""
    rng = np.random.default_rng(7)
    u, learner, updates = unit_vector(rng, 4), Perceptron(4), 0
    X = uniform_points(rng, 4000, 4)
    X = X[np.abs(X @ u) > 0.1]
    for x in X:
        updates += learner.learn(x, 1 if x @ u >= 0 else -1)
        floor = min(1 / 3, 1 / (5 * math.sqrt(updates))) if updates else 1 / 3
        assert math.sin(math.pi * error_of(learner.w, u)) >= floor or updates > 5
    assert 5 < updates <= 1 / 0.1**2


@pytest.mark.parametrize("labels", [10, 10_000])
def test_the_patience_of_dkm_solves_its_equation(labels):
    """The equation is R = 10 ln(2 L / (delta R)). Lemma 5 then fails with probability at most delta / 4."""
    R = theorem_bounds.dkm_patience(labels, 0.05)
    assert pytest.approx(10 * math.log(2 * labels / (0.05 * R))) == R
    if labels == 10_000:
        assert labels * 0.75 ** math.ceil(R) <= 0.05 / 4
