"""ISALn: its rounds by the theorem, and planes that turn by at most the theorem's angle."""

import itertools
import math

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.lab.active.angle_constrained_fit import angle_between
from psm_sim.lab.active.gaussian_instances import Gaussian
from psm_sim.lab.active.isaln_plane_learner import (
    Isaln,
    noisy_round,
)
from psm_sim.lab.active.plane_learner import GaussianSampler


def test_a_plane_turns_by_at_most_the_theorems_angle():
    """Round after round, from the second on."""
    learner = Isaln(
        Gaussian.standard(5), draws=200, scale=0.1, sampler=GaussianSampler(weighted=False), replication=0
    )
    before = None
    for i in range(1, 7):
        learner.run(lambda x: 1 if x[0] + 2 * x[1] >= 0 else -1, i)
        if before is not None:
            assert angle_between(before, learner.plane.normal) <= noisy_round(i, 5, 0.25).radius + 1e-6
        before = learner.plane.normal


def test_a_round_of_theorem_5_worked_out_by_hand():
    """I = 2, d = 4, beta = 1/4, alpha = 0."""
    found = noisy_round(2, 4, 0.25)
    assert found.half_margin == pytest.approx(math.pi / 4 / 2 * math.sqrt(5 + math.log(4) + math.log(4)))
    assert found.radius == pytest.approx(math.pi / 16)


def test_margins_halve_and_radii_halve_without_noise_near_the_plane():
    """Up to the slowly growing root."""
    rounds = [noisy_round(i, 10, 0.25) for i in range(2, 12)]
    for now, later in itertools.pairwise(rounds):
        assert later.radius == pytest.approx(now.radius / 2)
        assert 0.5 <= later.half_margin / now.half_margin < 0.55


@pytest.mark.parametrize(
    "make",
    [
        lambda: Isaln(Gaussian.standard(3)),
        lambda: Isaln(Gaussian(np.ones(5), np.eye(5))),
        lambda: Isaln(Gaussian.standard(5), beta=0.3),
        lambda: Isaln(Gaussian.standard(5), alpha=1.0),
        lambda: Isaln(Gaussian.standard(5), draws=0),
        lambda: Isaln(Gaussian.standard(5), scale=0.0),
    ],
)
def test_what_the_theorems_do_not_cover_is_refused(make):
    """Fewer than 4 features, shifted populations, noise and rounds out of range."""
    with pytest.raises(InputError, match="must"):
        make()
