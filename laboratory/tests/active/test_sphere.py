"""The block scan of points on the sphere gives the results of the sampler."""

from __future__ import annotations

import numpy as np
import pytest
from psm_lab.active import SelectiveSampler
from psm_lab.active.perceptrons import ModifiedPerceptron, Perceptron
from psm_lab.active.query_rules import AlwaysQuery, DkmHalvingRule
from psm_lab.active.sphere_instances import error_of, first_hits, sphere_points, unit_vector


@pytest.mark.parametrize(
    ("learner", "rule"),
    [(ModifiedPerceptron, lambda: DkmHalvingRule(R=8, s1=5**-0.5)), (Perceptron, AlwaysQuery)],
)
def test_the_block_scan_ends_with_the_same_weights_and_band_as_the_sampler(learner, rule):
    """The 2000 points of dimension 5 are in two blocks."""
    rng = np.random.default_rng(1)
    target = unit_vector(rng, 5)
    X, y = sphere_points(rng, target)(2000)
    seen = iter(range(10**6))
    rows = iter(zip(X, y, strict=True))

    def draw(count):
        next(seen)
        part = [next(rows) for _ in range(count)]
        return tuple(np.array(side) for side in zip(*part, strict=True))

    scanned, band = learner(5), rule()
    hits = first_hits(scanned, band, target, draw, (1e-12,), 2000)
    sampler = SelectiveSampler(learner(5), rule())
    record = sampler.run(X, y)
    assert next(seen) == 2  # two blocks
    assert hits.seen == 2000
    assert (scanned.w == sampler.learner.w).all()
    assert vars(band) == vars(sampler.rule)
    assert record.updated.sum() > 10


def test_the_block_scan_counts_the_same_labels_and_mistakes_as_the_sampler():
    """Labels, updates, wrong predictions and points are counted at the update that reached each level."""
    rng = np.random.default_rng(2)
    target = unit_vector(rng, 5)
    X, y = sphere_points(rng, target)(2000)
    hits = first_hits(
        ModifiedPerceptron(5),
        DkmHalvingRule(R=8),
        target,
        lambda count: (X[:count], y[:count]),
        (0.02,),
        1000,
    )
    sampler = SelectiveSampler(ModifiedPerceptron(5), DkmHalvingRule(R=8))
    record = sampler.run(X[: int(hits.points[0])], y[: int(hits.points[0])])
    assert error_of(sampler.learner.w, target) <= 0.02
    assert hits.labels[0] == record.queried.sum()
    assert hits.updates[0] == record.updated.sum()
    assert hits.errors[0] == np.sum(record.prediction != y[: int(hits.points[0])])
