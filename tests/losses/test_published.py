"""The two published losses against equation 2.35, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.losses import InverseLogLoss, InverseLoss, Poll


def test_inverse_is_equation_2_35() -> None:
    """1500 bytes after 300 ms: 1500 x 200^2 / (2 x 300) / 1.2e5 is 5/6, and 1/200 comes on top."""
    losses = InverseLoss()(Poll(300.0, 1500, 1), np.array([100.0, 200.0]))
    assert losses == pytest.approx([5 / 24 + 1 / 100, 5 / 6 + 1 / 200], rel=1e-14)


def test_inverse_log_has_the_natural_logarithm_and_its_own_gamma() -> None:
    """The same poll weighs 100 times as much, and energy is 1 / ln T."""
    losses = InverseLogLoss()(Poll(300.0, 1500, 1), np.array([100.0, 200.0]))
    assert losses == pytest.approx(
        [500 / 24 + 1 / math.log(100), 500 / 6 + 1 / math.log(200)],
        rel=1e-14,
    )


@pytest.mark.parametrize("loss", [InverseLoss, InverseLogLoss])
@pytest.mark.parametrize("gamma", [0.0, math.nan])
def test_gamma_must_be_a_number_above_0(loss: type, gamma: object) -> None:
    """As the thesis has it: gamma > 0."""
    with pytest.raises(InputError, match=rf"loss {loss.name}: gamma must be a number > 0 and <= .*, got"):
        loss(gamma=gamma)


def test_what_depends_on_the_candidates_alone_is_returned_read_only() -> None:
    """It is kept for the next round, so nobody may change it."""
    with pytest.raises(ValueError, match="read-only"):
        InverseLoss()(Poll(100.0), np.array([100.0]))[0] = 5.0
