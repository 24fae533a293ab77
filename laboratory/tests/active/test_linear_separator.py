"""Linear separators: the fit, its plane, and fits within an angle."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psm_lab.active.gaussian_instances import Gaussian
from psm_lab.active.linear_separator import Plane, fit_linear
from psm_lab.active.newton_solver import LOSSES
from scipy.optimize import minimize

from psm_sim.common.errors import InputError


def data(n=40, d=3, seed=0):
    """Return instances, noisy labels and weights."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    y = np.where(x @ rng.normal(size=d) + 0.5 * rng.normal(size=n) > 0.3, 1, -1)
    return x, y, rng.exponential(size=n)


def cost(plane, x, y, weights, C, loss):
    """Return the objective as the documentation states it."""
    margins = y * plane.decision_function(x)
    penalty = plane.normal @ plane.normal / 2 + 1e-3 / 2 * plane.offset**2
    return penalty + C * (weights / weights.mean()) @ LOSSES[loss](margins)[0]


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_no_other_plane_has_a_lower_cost(loss, C):
    """A derivative-free search from the fit and from points near it finds no lower objective."""
    x, y, weights = data()
    plane = fit_linear(x, y, weights, C, loss)
    own = cost(plane, x, y, weights, C, loss)
    for seed in range(3):
        start = np.array(plane.parameters) + 0.1 * seed * np.random.default_rng(seed).normal(size=4)
        minimum = minimize(
            lambda p: cost(Plane(p[:-1], p[-1]), x, y, weights, C, loss),
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000},
        )
        assert own <= minimum.fun + 1e-7 * own


def test_two_points_have_the_hand_computed_plane():
    """For x = 1 and -1 with C = 1, v minimises v^2/2 + 2 (1 - v)^2, so v = 4/5 and t = 0."""
    plane = fit_linear([[1.0], [-1.0]], [1, -1])
    assert plane.normal == pytest.approx([0.8], abs=1e-6)
    assert plane.offset == pytest.approx(0, abs=1e-6)
    assert plane.half_margin == pytest.approx(1.25, abs=1e-5)


def test_a_weight_of_two_equals_a_repeated_instance():
    """C is scaled, because weights have mean 1."""
    x, y, _ = data(20)
    weights = np.where(np.arange(20) < 5, 2.0, 1.0)
    twice = fit_linear(np.vstack([x, x[:5]]), np.append(y, y[:5]), C=1.0)
    once = fit_linear(x, y, weights, C=25 / 20)
    assert once.parameters == pytest.approx(twice.parameters, abs=1e-4)


def test_the_start_of_the_search_does_not_change_the_plane():
    x, y, weights = data()
    cold = fit_linear(x, y, weights)
    warm = fit_linear(x, y, weights, start=Plane(np.array([5.0, -3.0, 1.0]), 2.0))
    assert warm.parameters == pytest.approx(cold.parameters, abs=1e-4)


def test_a_fit_to_a_single_class_predicts_that_class_everywhere():
    """The penalty on the offset keeps the minimum finite."""
    plane = fit_linear(data()[0], np.ones(40))
    assert (plane.predict(data(seed=1)[0]) == 1).all()


@given(st.integers(0, 1000))
def test_projections_are_on_the_plane_at_the_returned_distance(seed):
    """The side of the plane gives the sign of the distance."""
    rng = np.random.default_rng(seed)
    plane, x = Plane(rng.normal(size=4), rng.normal()), rng.normal(size=(5, 4))
    foot = plane.project(x)
    assert plane.decision_function(foot) == pytest.approx(np.zeros(5), abs=1e-9)
    assert np.linalg.norm(x - foot, axis=1) == pytest.approx(np.abs(plane.distance(x)))
    assert (np.sign(plane.distance(x)) == plane.predict(x)).all()


def test_the_projection_of_a_gaussian_has_no_variance_across_the_plane():
    """Sampled projections have the stated mean and covariance."""
    rng = np.random.default_rng(0)
    plane = Plane(np.array([1.0, 2.0]), -1.0)
    p = Gaussian(np.array([0.5, 1.0]), np.array([[2.0, 0.3], [0.3, 1.0]]))
    drawn, stated = plane.project(p.draw(rng, 100_000)), p.projected(plane)
    assert drawn.mean(axis=0) == pytest.approx(stated.mean, abs=0.02)
    assert np.cov(drawn, rowvar=False) == pytest.approx(stated.covariance, abs=0.03)
    assert stated.covariance @ plane.normal == pytest.approx([0, 0], abs=1e-12)


def test_the_gaussian_density_agrees_with_the_hand_computed_density():
    """The density of two independent features is a product."""
    p = Gaussian(np.array([1.0, 0.0]), np.diag([4.0, 0.25]))
    by_hand = math.exp(-((3 - 1) ** 2) / 8 - 0.5**2 / 0.5) / (2 * math.pi * 2 * 0.5)
    assert p.log_density(np.array([3.0, 0.5])) == pytest.approx(math.log(by_hand))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"x": [[0.0, np.nan]]}, "nan"),
        ({"y": [0]}, r"-1 or \+1"),
        ({"weights": [0.0]}, "weights"),
        ({"C": 0.0}, "C > 0"),
        ({"loss": "hinge"}, "squared-hinge"),
    ],
)
def test_invalid_data_are_an_error_of_one_sentence(changes, fault):
    """NaN, infinity, and wrong shapes, labels, weights, C and losses are invalid."""
    with pytest.raises(InputError, match=fault) as caught:
        fit_linear(**{"x": [[0.0, 1.0]], "y": [1], **changes})
    assert str(caught.value).count(".") >= 1
    assert "\n" not in str(caught.value)
