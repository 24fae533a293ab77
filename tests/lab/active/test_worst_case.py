"""Theorems for any sequence, with exact expectations over the coins and the sharpest comparator."""

from __future__ import annotations

import numpy as np
import pytest

from psm_sim.lab.active import make_selective
from psm_sim.lab.active.adversarial_sequences import KINDS, adversarial_stream
from psm_sim.lab.active.bound_comparators import Cbgz2Bound, CbgzBound, LasecBound, Updates, spreads_of
from psm_sim.lab.active.expected_bound_sums import expected_sums, pool_runs, sample_run
from psm_sim.lab.active.theorem_bounds import (
    cbgz2_best_b,
    cbgz2_bound,
    cbgz2_tuned_bound,
    cbgz_best_b,
    cbgz_bound,
    cbgz_tuned_bound,
    lasec_best_c,
    lasec_bound,
    lasec_drift_limit,
    lasec_solved,
    lasec_spreads_bound,
    lasec_ss_bound,
)

STREAMS = 200
BIASES = (0.05, 0.5, 2.0)
THEOREMS = {
    "theorem 1": ("cbgz:b={b}", CbgzBound),
    "theorem 2": ("cbgz2:b={b}", Cbgz2Bound),
    "theorem 4": ("lasec-ss:ridge=1,c=10,b={b}", LasecBound),
}


@pytest.mark.parametrize("one_sided", ["false", "true"])
@pytest.mark.parametrize(("spec", "theorem"), THEOREMS.values(), ids=THEOREMS)
def test_no_stream_violates_the_bound_on_expected_mistakes(spec, theorem, one_sided):
    """200 random and adversarial streams; the expectation is exact, so nothing is allowed beyond rounding."""
    ratios = []
    for number in range(STREAMS):
        rng, b = np.random.default_rng(number), BIASES[number % 3]
        X, label = adversarial_stream(KINDS[number % 5], rng, rounds=9, features=2 + number % 2)
        sampler = make_selective(f"{spec.format(b=b)},one_sided={one_sided}", X.shape[1])
        found = expected_sums(sampler, X, label)
        bound = theorem(b).sharpest(found.updates)
        assert found.mistakes <= bound * (1 + 1e-6), (number, b)
        ratios.append(found.mistakes / bound)
    assert max(ratios) > 0.9  # the bounds are sharp: a slip of a factor of 2 would show


def test_the_expectation_is_the_mean_over_coins():
    """The mean of 1500 sampled runs lies within 5 standard errors of the exact mistakes and labels."""
    X, label = adversarial_stream("noisy", np.random.default_rng(3), rounds=10, features=3)
    y = [label(row, 0) for row in range(10)]
    found = expected_sums(make_selective("cbgz:b=0.5", 3), X, label)
    runs = [make_selective("cbgz:b=0.5", 3, seed=seed).run(X, y) for seed in range(1500)]
    for exact, values in (
        (found.mistakes, [np.sum(run.prediction != y) for run in runs]),
        (found.labels, [run.queried.sum() for run in runs]),
    ):
        assert abs(np.mean(values) - exact) < 5 * np.std(values) / 1500**0.5


def test_the_comparator_is_the_optimum():
    """No random comparator gives a smaller bound than the one found by optimisation."""
    rng = np.random.default_rng(5)
    X, label = adversarial_stream("noisy", rng, rounds=60, features=4)
    y = np.array([float(label(row, 0)) for row in range(60)])
    updates = Updates(X, y, rng.random(60))
    best = CbgzBound(0.5).sharpest(updates)
    for scale in (0.1, 1.0, 3.0):
        for z in scale * rng.normal(size=(200, 4)):
            assert best <= cbgz_bound(0.5, updates.hinge(z), float(z @ z)) + 1e-6


def test_lasec_keeps_its_deterministic_bound_and_the_base_inequality():
    """Theorem 2 and inequality 8 of Moroshko and Crammer on 200 streams, comparators moving and still."""
    for number in range(STREAMS):
        rng, ridge, c = np.random.default_rng(number), 1.0, (10.0, 1000.0)[number % 2]
        X, label = adversarial_stream(KINDS[number % 5], rng, rounds=30, features=3)
        x, y, r = mistakes_of(make_selective(f"lasec:ridge={ridge},c={c}", 3), X, label)
        spreads = spreads_of(x, ridge, c)
        for u in (rng.normal(size=3) + np.cumsum(rng.normal(scale=0.3, size=x.shape), axis=0), 0 * x):
            moved = np.sum((u[1:] - u[:-1]) ** 2)
            products = np.einsum("ij,ij->i", u, x)
            penalty = ridge * u[0] @ u[0] + c * moved
            assert np.sum((r - y) ** 2) <= penalty + np.sum((y - products) ** 2) + spreads + 1e-9
            hinge = np.maximum(0, 1 - y * products).sum()
            assert len(x) <= lasec_bound(hinge, penalty + products @ products, spreads) + 1e-9


def mistakes_of(sampler, X, label):
    """Return instances, labels and margins of the mistakes of a run with every label bought."""
    kept = []
    for row, x in enumerate(X):
        decision = sampler.ask(x)
        y = label(row, decision.prediction)
        if sampler.tell(x, y):
            kept.append((x, y, decision.margin))
    return tuple(np.array(part) for part in zip(*kept, strict=True))


@pytest.mark.parametrize(("spec", "theorem"), THEOREMS.values(), ids=THEOREMS)
@pytest.mark.parametrize("kind", KINDS[:4])
def test_large_runs_keep_the_bound_within_two_standard_errors(spec, theorem, kind):
    """Ten dimensions, 2000 rounds, b = 0.5 and 2, 8 coins: the quick form of the acceptance table."""
    for b in (0.5, 2.0):
        X, label = adversarial_stream(kind, np.random.default_rng(7), 2000, 10, 0.1 * (kind == "separable"))
        runs = [sample_run(make_selective(spec.format(b=b), 10, seed=seed), X, label) for seed in range(8)]
        mean, bound = pool_runs(runs), theorem(b)
        z = bound.best(mean.updates)
        excess = [run.mistakes - bound.at(run.updates, z) for run in runs]  # both depend on the coins
        assert np.mean(excess) == pytest.approx(mean.mistakes - bound.sharpest(mean.updates), abs=1e-6)
        assert np.mean(excess) <= 2 * np.std(excess, ddof=1) / len(runs) ** 0.5
        if theorem is CbgzBound and b == 2:
            assert mean.mistakes / bound.sharpest(mean.updates) > 0.94  # a slip of a factor of 2 would show


@pytest.mark.parametrize(("name", "mistakes", "labels"), [("cbgz", 26.4, 689), ("cbgz2", 16.5, 1119)])
def test_a_separable_stream_costs_what_the_reference_found(name, mistakes, labels):
    """Margin 0.1, b = 0.5, eight streams: mistakes and labels within 10 %, labels as their probabilities."""
    found = []
    for seed in range(8):
        X, label = adversarial_stream("separable", np.random.default_rng(seed), 2000, 10, margin=0.1)
        y = np.array([label(row, 0) for row in range(2000)])
        for coin in range(2):
            run = make_selective(f"{name}:b=0.5", 10, seed=coin).run(X, y)
            found.append([np.sum(run.prediction != y), run.queried.sum(), run.probability.sum()])
    wrong, bought, expected = np.mean(found, axis=0)
    assert wrong == pytest.approx(mistakes, rel=0.1)
    assert bought == pytest.approx(labels, rel=0.1)
    assert bought == pytest.approx(expected, rel=0.02)


def test_tunings_are_the_minima_of_their_bounds():
    """The best b gives the tuned bound, and any other b a larger one."""
    for hinge, square, logdet in ((0.0, 4.0, 3.0), (7.0, 2.0, 1.5)):
        b = cbgz_best_b(hinge, square)
        assert cbgz_bound(b, hinge, square) == pytest.approx(cbgz_tuned_bound(hinge, square))
        assert all(cbgz_bound(b * f, hinge, square) > cbgz_tuned_bound(hinge, square) for f in (0.7, 1.4))
        b = cbgz2_best_b(square, logdet)
        assert cbgz2_bound(b, hinge, square, logdet) == pytest.approx(
            cbgz2_tuned_bound(hinge, square, logdet)
        )
        assert lasec_ss_bound(b, hinge, square, logdet) == cbgz2_bound(b, hinge, square, logdet)
    assert cbgz_best_b(0.0, 9.0) == 0.5
    assert cbgz_tuned_bound(0.0, 9.0) == pytest.approx(9.0)  # the Perceptron's |u|^2 / g^2


def test_the_sum_of_spreads_keeps_its_bound():
    """Equation 10 of Moroshko and Crammer, on streams of several lengths, and its drift-free case."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        ridge, c = 1.0, (4.0, 50.0, 1000.0)[seed % 3]
        x = rng.normal(size=(25, 3)) * rng.random((25, 1)) * 3
        learner = make_selective(f"lasec:ridge={ridge},c={c}", 3).learner
        for row in x:
            learner._fit(row, 1.0)
        ratio = -np.linalg.slogdet(learner.P)[1] - 3 * np.log(ridge)
        longest = float(np.sqrt((x**2).sum(axis=1).max()))
        assert spreads_of(x, ridge, c) <= lasec_spreads_bound(ratio, 25, 3, longest, ridge, c) + 1e-9


def test_corollary_8_solves_for_mistakes_and_tunes_the_drift():
    """Lemma 7's m satisfies its equation; the tuned c grows as (T / V)^(2/3) inside its limit."""
    m = lasec_solved(3.0, 5.0, 2.0, 0.4)
    assert m == pytest.approx(3.0 + np.sqrt(5.0 * (2.0 + m * 0.4)))
    assert lasec_best_c(2.0, 8000, 10, 1.0) == pytest.approx(4 * lasec_best_c(2.0, 1000, 10, 1.0))
    assert lasec_drift_limit(1000, 10, 1.0, ridge=1.0) == pytest.approx(1000 * np.sqrt(2) * 10 / 1.125**1.5)
