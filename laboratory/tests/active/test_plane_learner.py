"""Plane learners on the neuron of the thesis: their samples and weights."""

import numpy as np
import pytest
from psm_lab.active.data.simulated_neuron import SimulatedNeuron
from psm_lab.active.gaussian_instances import Gaussian
from psm_lab.active.linear_separator import Plane
from psm_lab.active.plane_learner import (
    SAMPLERS,
    GaussianSampler,
    PlaneLearner,
    query_probability,
)

from psm_sim.common.errors import InputError
from psm_sim.common.summary_stats import confidence_interval


def test_the_mean_weighted_by_the_density_ratio_equals_the_mean_of_the_population():
    """Most samples of the mixture q are near the plane, unlike those of p."""
    population, plane = Gaussian.standard(2), Plane(np.array([2.0, 0.0]), -1.0)
    learner = PlaneLearner("isalg:eta=0.3", population)
    learner.plane = plane
    rng = np.random.default_rng(0)
    draws = [learner.sampler.draw(learner, rng) for _ in range(4000)]
    x, weights = np.array([draw.x for draw in draws]), np.array([draw.weight for draw in draws])
    assert weights.max() <= 1 / 0.3
    assert weights.mean() == pytest.approx(1, abs=0.05)
    assert weights @ (x[:, 0] > 0.2) / 4000 == pytest.approx(0.4207, abs=0.03)
    assert weights @ x[:, 1] ** 2 / 4000 == pytest.approx(1, abs=0.1)


def test_weights_by_the_literal_density_span_orders_of_magnitude():
    """With eta = 0 the weight is p(x)/N(x; centre, b^2), with the density around the sampled centre."""
    learner = PlaneLearner("isalg:density=literal,eta=0", Gaussian.standard(9))
    learner.plane = Plane(np.full(9, 1.0))
    rng = np.random.default_rng(0)
    weights = [learner.sampler.draw(learner, rng).weight for _ in range(300)]
    assert max(weights) > 1e3 * np.median(weights)


def test_the_sampler_bi_draws_from_the_plane_and_the_sampler_mi_draws_within_its_margin():
    """MI takes the nearest of 500 samples if none is within the margin."""
    learner, rng = PlaneLearner("bi", Gaussian.standard(3)), np.random.default_rng(0)
    learner.plane = Plane(np.array([1.0, 1.0, 0.0]), 0.5)
    boundary, margin = SAMPLERS.create("bi"), SAMPLERS.create("mi")
    for _ in range(20):
        height = learner.plane.decision_function(boundary.draw(learner, rng).x[None])
        assert height == pytest.approx([0], abs=1e-12)
        assert abs(learner.plane.decision_function(margin.draw(learner, rng).x[None])[0]) < 1
    learner.plane = Plane(np.array([1e6, 0.0, 0.0]), 0.0)
    assert abs(margin.draw(learner, rng).x[0]) < 0.02


def test_the_query_probability_of_iwal_falls_with_the_gap_and_with_the_length_of_the_stream():
    """The probability is 1 for small gaps, and falls with the gap and with the length of the stream."""
    assert query_probability(0.0, 100, 1.0) == 1
    assert query_probability(0.5, 100, 1.0) == pytest.approx((4 + 2) * np.log(101) / 100)
    assert query_probability(0.5, 1000, 1.0) < query_probability(0.5, 100, 1.0)


def test_iwal_weights_compensate_for_skipped_instances():
    """The weights of the accepted instances sum to the length of the stream, in the mean of 25 runs."""
    neuron, ratios = SimulatedNeuron(), []
    for replication in range(25):
        learner = PlaneLearner("iwal2:C0=0.005", neuron.population, seed=replication)
        learner.run(lambda x: int(neuron.truth(x[None])[0]), 40)
        ratios.append(learner.weights.sum() / learner.seen)
        assert learner.seen >= 40
    interval = confidence_interval(ratios)
    assert interval.half_width < 0.25
    assert abs(interval.mean - 1) < 1.5 * interval.half_width


def test_a_neuron_fires_with_the_probability_of_its_model():
    """The probability of silence is exp(-ln 2 exp(theta.x)), one half on the plane; flips are added to it."""
    neuron, rng = SimulatedNeuron(m=2), np.random.default_rng(0)
    on_plane = Plane(neuron.theta).project(neuron.population.draw(rng, 20_000))
    assert (neuron.answer(on_plane, rng) == -1).mean() == pytest.approx(0.5, abs=0.02)
    far = 5 * np.tile(neuron.theta / 6, (20_000, 1))
    assert (SimulatedNeuron(m=2, flips=0.15).answer(far, rng) == -1).mean() == pytest.approx(0.15, abs=0.01)
    assert np.linalg.norm(SimulatedNeuron(m=4).theta) == pytest.approx(6)


def test_a_sampler_object_is_accepted_and_its_parameters_are_checked():
    assert len(PlaneLearner(GaussianSampler(eta=0.5), Gaussian.standard(2))) == 0
    with pytest.raises(InputError, match="eta"):
        GaussianSampler(eta=-1)
