"""Identities of the learners, compared with direct inversion, a smoother, and plane geometry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from psm_lab.active import SelectiveSampler, make_selective
from psm_lab.active.perceptrons import ModifiedPerceptron, Perceptron
from psm_lab.active.query_rules import DkmHalvingRule, MarginQuery
from psm_lab.active.second_order_learners import Lasec, SecondOrderPerceptron
from psm_lab.active.sphere_instances import uniform_points, unit_vector


def noisy(seed, rounds, features):
    """Return Gaussian instances with a tenth of the labels flipped."""
    rng = np.random.default_rng(seed)
    X, u = rng.normal(size=(rounds, features)), rng.normal(size=features)
    return X, np.where(X @ u >= 0, 1, -1) * np.where(rng.random(rounds) < 0.1, -1, 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_second_order_update_equals_direct_inversion(seed):
    """R = v'(A + x x')^-1 x and q = x'A^-1 x agree to 1e-10, with A and v summed over the updates."""
    X, y = noisy(seed, 400, 8)
    sampler = make_selective("cbgz2:b=0.3", 8, seed=seed)
    A, v = np.eye(8), np.zeros(8)
    for x, label in zip(X, y, strict=True):
        unit = x / np.linalg.norm(x)
        decision = sampler.ask(x)
        q = unit @ np.linalg.solve(A, unit)
        r = v @ np.linalg.solve(A + np.outer(unit, unit), unit)
        assert decision.margin == pytest.approx(r, abs=1e-10)
        assert sampler.learner.spread(unit) == pytest.approx(q, abs=1e-10)
        assert decision.probability == pytest.approx(0.3 / (0.3 + abs(r) + r * r * (1 + q) / 2), abs=1e-9)
        if decision.query and sampler.tell(x, int(label)):
            A += np.outer(unit, unit)
            v += label * unit


@pytest.mark.parametrize("c", [2.0, 30.0, 1e4])
def test_the_recursion_gives_the_same_margins_as_the_two_inversions_of_figure_1(c):
    """The margins agree to 1e-9 in every round with D and e of the paper."""
    X, y = noisy(4, 300, 5)
    learner, ridge, identity = Lasec(5, ridge=1.5, c=c), 1.5, np.eye(5)
    D, e = ridge * c / (c - ridge) * identity, np.zeros(5)
    for x, label in zip(X, y, strict=True):
        S = np.linalg.inv(np.linalg.inv(D) + identity / c) + np.outer(x, x)
        faded = np.linalg.solve(identity + D / c, e)
        assert learner.margin(x) == pytest.approx(x @ np.linalg.solve(S, faded), abs=1e-9)
        if learner.learn(x, int(label)):
            D, e = S, faded + label * x


@pytest.mark.parametrize("c", [3.0, 100.0, None])
def test_the_weights_of_lasec_equal_the_last_state_of_the_smoother(c):
    """The smoother minimises Q by a linear system, and agrees to 1e-9."""
    X, y = noisy(5, 60, 3)
    learner, updates = Lasec(3, ridge=1.0, c=c), []
    for x, label in zip(X, y, strict=True):
        if learner.learn(x, int(label)):
            updates.append((x, label))
            assert learner.w == pytest.approx(smoothed(updates, 1.0, c), abs=1e-9)
    assert len(updates) > 10


def smoothed(updates, ridge, c):
    """Return u_m of min ridge |u_1|^2 + c sum |u_{s+1} - u_s|^2 + sum (y_s - u_s.x_s)^2."""
    if c is None:
        X, y = (np.array(part) for part in zip(*updates, strict=True))
        return np.linalg.solve(ridge * np.eye(3) + X.T @ X, X.T @ y)
    m, system, right = (
        len(updates),
        np.zeros((3 * len(updates), 3 * len(updates))),
        np.zeros(3 * len(updates)),
    )
    system[:3, :3] += ridge * np.eye(3)
    for position, (x, label) in enumerate(updates):
        here = slice(3 * position, 3 * position + 3)
        system[here, here] += np.outer(x, x)
        right[here] += label * x
        if position + 1 < m:
            after = slice(3 * position + 3, 3 * position + 6)
            for row, column, sign in (
                (here, here, 1),
                (after, after, 1),
                (here, after, -1),
                (after, here, -1),
            ):
                system[row, column] += sign * c * np.eye(3)
    return np.linalg.solve(system, right)[-3:]


@pytest.mark.parametrize("features", [2, 5, 20])
def test_reflections_keep_the_norm_and_never_turn_away_from_the_target(features):
    """On 4000 points of a separable stream the norm is 1 to 1e-9, and w.u never falls by 1e-12."""
    rng = np.random.default_rng(features)
    u, learner = unit_vector(rng, features), ModifiedPerceptron(features)
    before, updates = -1.0, 0
    for x in uniform_points(rng, 4000, features):
        updates += learner.learn(x, 1 if x @ u >= 0 else -1)
        assert abs(np.linalg.norm(learner.w) - 1) < 1e-9
        assert learner.w @ u >= before - 1e-12
        before = float(learner.w @ u)
    assert updates > 4


@pytest.mark.parametrize("factor", [0.3, 1.0, 1.7, 2.0])
def test_the_cosine_after_an_update_follows_the_formula_and_never_falls(factor):
    """The cosine is (wh.u + a|wh.x||x.u|) / sqrt(1 - a(2-a)(wh.x)^2) for any factor a."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        u, w, x = (unit_vector(rng, 4) for _ in range(3))
        w = w if w @ u >= 0 else -w
        learner = ModifiedPerceptron(4, factor=factor)
        learner.learn(w, 1)
        if learner.learn(x, 1 if x @ u >= 0 else -1):
            turned = learner.w @ u / np.linalg.norm(learner.w)
            gain = w @ u + factor * abs(w @ x) * abs(x @ u)
            assert turned == pytest.approx(gain / math.sqrt(1 - factor * (2 - factor) * (w @ x) ** 2))
            assert turned >= w @ u - 1e-12


def test_dkm_can_leave_the_set_of_consistent_hypotheses():
    """Theorem 6 in the plane has hypotheses at 15, 30 and 120 degrees; the first point is misclassified."""

    def at(degrees):
        return np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])

    sampler = make_selective("dkm", 2)
    chord = at(15) - at(30)
    for x, y, angle in ((at(15), 1, 15), (chord / np.linalg.norm(chord), -1, 30), (at(165), 1, 120)):
        assert sampler.ask(x).query
        assert sampler.tell(x, y)
        assert sampler.learner.w == pytest.approx(at(angle), abs=1e-12)
        assert (x @ at(90) >= 0) == (y > 0)
    assert sampler.learner.predict([at(15)]).tolist() == [-1]


def test_queries_by_margin_depend_only_on_the_ratio_of_b_to_eta():
    """From w = 0, a tenfold b with a tenfold eta gives the same predictions and queries."""
    X, y = noisy(6, 400, 4)
    first, tenfold = (
        SelectiveSampler(Perceptron(4, eta=scale), MarginQuery(b=0.2 * scale), seed=2).run(X, y)
        for scale in (1, 10)
    )
    assert (first.queried == tenfold.queried).all()
    assert (first.prediction == tenfold.prediction).all()
    assert 0.1 < first.queried.mean() < 0.9


def test_lasec_without_drift_equals_the_second_order_perceptron():
    """An infinite c, or none, gives bit-for-bit equal weights; a huge c gives nearly equal ones."""
    X, y = noisy(7, 200, 4)
    learners = [SecondOrderPerceptron(4), Lasec(4, ridge=1.0, c=math.inf), Lasec(4, ridge=1.0, c=1e12)]
    for learner in learners:
        for x, label in zip(X, y, strict=True):
            learner.learn(x, int(label))
    assert (learners[0].w == learners[1].w).all()
    assert learners[2].w == pytest.approx(learners[0].w, abs=1e-6)


def test_the_query_band_halves_after_r_correct_predictions_in_a_row():
    """R is 2. A mistake restarts the count and does not change the band (erratum E4)."""
    rule, seen = DkmHalvingRule(R=2), []
    for right in (True, True, True, False, True, True, True):
        rule.on_label(right)
        seen.append((rule.s, rule.run))
    assert seen == [(1, 1), (0.5, 0), (0.5, 1), (0.5, 0), (0.5, 1), (0.25, 0), (0.25, 1)]
