"""The two published losses, compared with hand-computed values of equation 2.35."""

from __future__ import annotations

import math

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.losses import InverseLogLoss, InverseLoss, Poll


def test_the_inverse_loss_equals_equation_2_35() -> None:
    """The loss of 1500 bytes after 300 ms is 1500 x 200^2 / (2 x 300) / 1.2e5 = 5/6, plus 1/200."""
    losses = InverseLoss()(Poll(300.0, 1500, 1), np.array([100.0, 200.0]))
    assert losses == pytest.approx([5 / 24 + 1 / 100, 5 / 6 + 1 / 200], rel=1e-14)


def test_the_inverse_log_loss_has_the_natural_logarithm_and_a_gamma_of_its_own() -> None:
    """The latency weighs 100 times as much, and the energy term is 1 / ln T."""
    losses = InverseLogLoss()(Poll(300.0, 1500, 1), np.array([100.0, 200.0]))
    assert losses == pytest.approx(
        [500 / 24 + 1 / math.log(100), 500 / 6 + 1 / math.log(200)],
        rel=1e-14,
    )


@pytest.mark.parametrize("loss", [InverseLoss, InverseLogLoss])
@pytest.mark.parametrize("gamma", [0.0, math.nan])
def test_gamma_must_be_a_number_above_0(loss: type, gamma: object) -> None:
    """The thesis requires it."""
    with pytest.raises(InputError, match=rf"loss {loss.name}: gamma must be a number > 0 and <= .*, got"):
        loss(gamma=gamma)
