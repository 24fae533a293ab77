"""Mistake bounds for any sequence: exact expectations, comparators, and theorems on LASEC."""

from __future__ import annotations

import numpy as np
import pytest
from psm_lab.active import make_selective
from psm_lab.active.adversarial_sequences import SEQUENCE_KINDS, adversarial_stream
from psm_lab.active.bound_comparators import CbgzBound, Updates, expected_sums
from psm_lab.active.second_order_learners import RidgeRegression
from psm_lab.active.theorem_bounds import cbgz_bound


def test_the_exact_expectation_agrees_with_the_mean_of_sampled_runs():
    """The mean of 1500 runs is within 5 standard errors of the exact mistakes and labels."""
    X, label = adversarial_stream("noisy", np.random.default_rng(3), rounds=10, features=3)
    y = [label(row, 0) for row in range(10)]
    expected = expected_sums(make_selective("cbgz:b=0.5", 3), X, label)
    runs = [make_selective("cbgz:b=0.5", 3, seed=seed).run(X, y) for seed in range(1500)]
    for exact, values in (
        (expected.mistakes, [np.sum(run.prediction != y) for run in runs]),
        (expected.labels, [run.queried.sum() for run in runs]),
    ):
        assert abs(np.mean(values) - exact) < 5 * np.std(values) / 1500**0.5


def test_no_random_comparator_gives_a_smaller_bound_than_the_optimised_comparator():
    rng = np.random.default_rng(5)
    X, label = adversarial_stream("noisy", rng, rounds=60, features=4)
    y = np.array([float(label(row, 0)) for row in range(60)])
    updates = Updates(X, y, rng.random(60))
    best = CbgzBound(0.5).sharpest(updates)
    for scale in (0.1, 1.0, 3.0):
        for z in scale * rng.normal(size=(200, 4)):
            assert best <= cbgz_bound(0.5, updates.hinge(z), float(z @ z)) + 1e-6


def test_lasec_obeys_its_deterministic_bound_and_its_base_inequality():
    """Theorem 2 and inequality 8 of Moroshko and Crammer hold for moving and fixed comparators."""
    for number in range(200):
        rng, ridge, c = np.random.default_rng(number), 1.0, (10.0, 1000.0)[number % 2]
        X, label = adversarial_stream(SEQUENCE_KINDS[number % 5], rng, rounds=30, features=3)
        x, y, r = mistakes_of(make_selective(f"lasec:ridge={ridge},c={c}", 3), X, label)
        learner, spreads = RidgeRegression(3, ridge=ridge, c=c), 0.0
        for row in x:
            q = learner.spread(row)
            spreads += q / (1 + q)
            learner.learn(row, 1)
        for u in (rng.normal(size=3) + np.cumsum(rng.normal(scale=0.3, size=x.shape), axis=0), 0 * x):
            moved = np.sum((u[1:] - u[:-1]) ** 2)
            products = np.einsum("ij,ij->i", u, x)
            penalty = ridge * u[0] @ u[0] + c * moved
            assert np.sum((r - y) ** 2) <= penalty + np.sum((y - products) ** 2) + spreads + 1e-9
            hinge = np.maximum(0, 1 - y * products).sum()
            assert len(x) <= hinge + ((penalty + products @ products) * spreads) ** 0.5 + 1e-9


def mistakes_of(sampler, X, label):
    """Return instances, labels and margins of the mistakes of a run that queries every label."""
    mistakes = []
    for row, x in enumerate(X):
        decision = sampler.ask(x)
        y = label(row, decision.prediction)
        if sampler.tell(x, y):
            mistakes.append((x, y, decision.margin))
    return tuple(np.array(part) for part in zip(*mistakes, strict=True))


@pytest.mark.parametrize(("name", "mistakes", "labels"), [("cbgz", 26.4, 689), ("cbgz2", 16.5, 1119)])
def test_mistakes_and_labels_on_a_separable_stream_agree_with_the_reference(name, mistakes, labels):
    """The labels also agree with the sum of the query probabilities, within 2 %."""
    sums = []
    for seed in range(8):
        X, label = adversarial_stream("separable", np.random.default_rng(seed), 2000, 10, margin=0.1)
        y = np.array([label(row, 0) for row in range(2000)])
        for coin in range(2):
            run = make_selective(f"{name}:b=0.5", 10, seed=coin).run(X, y)
            sums.append([np.sum(run.prediction != y), run.queried.sum(), run.probability.sum()])
    wrong, bought, expected = np.mean(sums, axis=0)
    assert wrong == pytest.approx(mistakes, rel=0.1)
    assert bought == pytest.approx(labels, rel=0.1)
    assert bought == pytest.approx(expected, rel=0.02)
