"""Waiting-time model: hand-computed bins and weights, known distributions, and regret."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.learning import WaitingTimeModel, best_switching
from psm_sim.learning.waiting_time_model import (
    BINS,
    EDGES_S,
    RATES,
    CdfCurve,
    exponential_masses,
    shares,
    smoothing_matrix,
)

TIMES = st.floats(0.0, 100.0)


def law_after(intervals, **prior) -> WaitingTimeModel:
    """Return a model trained on *intervals*."""
    law = WaitingTimeModel(**prior)
    for after_s, by_s in intervals:
        law.observe(after_s, by_s)
    return law


def kaplan_meier(events, censored, times):
    """Return the product-limit estimate of F at *times*, by its definition."""
    last = np.concatenate((events, censored))
    steps = [(time, 1 - 1 / np.sum(last >= time)) for time in np.sort(events)]
    return np.array([1 - math.prod(factor for when, factor in steps if when <= time) for time in times])


def test_the_bin_edges_are_as_specified():
    """The first bin has 4 ms, 101 bins grow by a tenth up to 60.6 s, and the last one is open."""
    assert BINS == 103
    assert EDGES_S[1] == 0.004
    assert EDGES_S[-1] == pytest.approx(60.6, abs=0.05)
    assert EDGES_S[2:] / EDGES_S[1:-1] == pytest.approx(1.1)


def test_the_shares_of_an_interval_agree_with_hand_computed_shares():
    """The interval is from the middle of the first bin to that of the second.

    Without an end, the last bin is whole.
    """
    by_bin = shares(0.002, 0.0042)
    assert by_bin[:3] == pytest.approx([0.5, 0.5, 0.0])
    assert by_bin[-1] == 0
    assert shares(60.0, math.inf)[-1] == 1
    assert shares(61.0, 70.0).sum() == 1


@given(rate=st.floats(1e-4, 1e3), width=st.integers(0, 20))
def test_distributions_and_kernels_have_mass_1(rate, width):
    """Every exponential distribution and every row of a kernel has a separate last bin."""
    assert exponential_masses(np.array([rate])).sum() == pytest.approx(1)
    kernel = smoothing_matrix(width)
    assert kernel.sum(axis=1) == pytest.approx(np.ones(BINS))
    assert kernel[:, -1].tolist() == [0] * (BINS - 1) + [1]


def test_a_kernel_is_triangular():
    """The weights for width 1 are a half, and a quarter for each neighbour.

    The first bin has one neighbour.
    """
    kernel = smoothing_matrix(1)
    assert kernel[50, 48:53].tolist() == [0, 0.25, 0.5, 0.25, 0]
    assert kernel[0, :3] == pytest.approx([2 / 3, 1 / 3, 0])


def test_the_curve_of_one_bin_is_a_ramp_and_the_integral_of_the_curve_is_a_parabola():
    """F rises to 1 in 4 ms if all mass is in the first bin.

    G is t^2 / 8 ms until 4 ms, and t - 2 ms later.
    """
    masses = np.zeros(BINS)
    masses[0] = 1
    risen, area = CdfCurve.of(masses).at(np.array([0.0, 0.002, 0.004, 1.0, 100.0]))
    assert risen == pytest.approx([0, 0.5, 1, 1, 1])
    assert area == pytest.approx([0, 0.0005, 0.002, 0.998, 99.998])


def test_weights_after_two_observations_agree_with_hand_computed_weights():
    """The model has one histogram, half-life 8 and no smoothing.

    The E-step adds a mass of 1 after the decay of the first one.
    """
    law = law_after([(0.0, 0.004), (0.0, 0.0044)])
    prior = 2 / 1.25 / 102
    first = (1 + prior) / 3, prior / 3  # after the first observation: the first and the second bin
    added = first[0] / sum(first), first[1] / sum(first)
    fade = 2 ** (-1 / 8)
    counts = law._histograms.counts[0]
    assert counts[:2] == pytest.approx([fade + added[0], added[1]], rel=1e-3)
    assert counts.sum() == pytest.approx(fade + 1)


def test_the_loss_is_the_code_length_of_the_interval():
    """The loss is the negative logarithm of the mass in the interval, and 0 for an unlimited one."""
    law = law_after([(0.2, 0.3), (0.4, math.inf)])
    mass = float(law.masses @ shares(0.0, EDGES_S[30]))
    assert law.observe(0.0, EDGES_S[30]) == pytest.approx(-math.log(mass), abs=1e-3)
    rounds = law.rounds
    assert law.observe(0.0, math.inf) == 0
    assert law.rounds == rounds


def test_the_total_loss_obeys_the_regret_bound_of_switching_experts():
    """The bound is the log loss of the best sequence plus its code length under one rate of Learn-alpha."""
    random = np.random.default_rng(1)
    times = np.concatenate((random.normal(0.65, 0.01, 150), random.exponential(5.0, 150)))
    law, table, suffered = WaitingTimeModel(), [], 0.0
    for time in np.abs(times):
        table.append(-np.log(np.maximum(law.experts @ shares(time, time + 0.1), 1e-300)))
        suffered += law.observe(time, time + 0.1)
    experts, switches, rate = 11, 3, 0.01
    best = best_switching(table, switches)[switches]
    moves = switches * math.log(rate / (experts - 1)) + (len(table) - 1 - switches) * math.log(1 - rate)
    assert suffered <= best + math.log(len(RATES)) + math.log(experts) - moves
    assert suffered > best


def test_exact_waiting_times_give_the_empirical_distribution():
    """Other bins have only the prior after a thousand exact times at two values."""
    random = np.random.default_rng(2)
    times = np.where(random.random(1000) < 0.3, 0.05, 2.0) * random.uniform(0.97, 1.03, 1000)
    law = law_after([(time - 1e-4, time) for time in times])
    risen, _ = law.at(np.array([0.04, 0.06, 1.8, 2.2]))
    assert risen == pytest.approx([0.0, 0.3, 0.3, 1.0], abs=0.03)


def test_censored_waiting_times_give_the_product_limit_estimate():
    """Two thousand times, a fifth of them censored, are within 2 % of the estimate of Kaplan and Meier."""
    random = np.random.default_rng(3)
    true = random.gamma(2.0, 0.5, 2000)
    cut = random.exponential(4.0, 2000)
    seen = true <= cut
    times = zip(np.minimum(true, cut).tolist(), seen.tolist(), strict=True)
    intervals = [(max(0.0, time - 1e-3), time) if came else (time, math.inf) for time, came in times]
    at = np.array([0.3, 0.6, 1.0, 1.5, 2.0])
    risen, _ = law_after(intervals).at(at)
    assert risen == pytest.approx(kaplan_meier(true[seen], cut[~seen], at), abs=0.02)


def test_exponential_waiting_times_give_the_exponential_experts_most_of_the_weight():
    """Nine tenths of the weight are theirs after 400 exact times."""
    random = np.random.default_rng(4)
    law = law_after([(time * 0.999, time) for time in random.exponential(0.4, 400)])
    assert law.learner.weights[-2:].sum() > 0.9


@given(st.lists(st.tuples(TIMES, TIMES, st.booleans()), max_size=30))
def test_the_mixture_is_a_distribution_after_any_observations(seen):
    """Masses are positive and sum to 1; F is monotone between 0 and 1."""
    law = law_after([(min(a, b), math.inf if censored else max(a, b)) for a, b, censored in seen])
    assert law.masses.sum() == pytest.approx(1)
    assert (law.masses > 0).all()
    risen, area = law.at(np.linspace(0, 70, 500))
    assert (np.diff(risen) >= -1e-12).all()
    assert (np.diff(area) >= -1e-12).all()
    assert risen[-1] <= 1


@pytest.mark.parametrize("interval", [(2.0, 1.0), (-1.0, 1.0), (math.nan, 1.0), (math.inf, math.inf)])
def test_an_invalid_interval_is_an_error(interval):
    """The message has the ends of the interval."""
    with pytest.raises(InputError, match="must satisfy 0 <= a <= b"):
        WaitingTimeModel().observe(*interval)


@pytest.mark.parametrize("prior", [{"never": 0.0}, {"mean_s": -1.0}, {"mean_s": math.inf}])
def test_a_prior_without_mass_in_a_bin_is_an_error(prior):
    """Every bin needs a positive mass."""
    with pytest.raises(InputError, match="must be a number > 0"):
        WaitingTimeModel(**prior)
