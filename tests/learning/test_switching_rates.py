"""The optimal discretisation of the switching rate (2.12-2.14)."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.learning import relative_entropy, switching_rates


def farthest(rates):
    """Return the largest distance D of an alpha* from its nearest level, on a grid dense at the ends."""
    edge = np.geomspace(1e-12, 0.5, 20_000)
    grid = np.concatenate([[0.0], edge, 1 - edge, [1.0]])
    right = np.clip(np.searchsorted(rates, grid), 0, rates.size - 1)
    left = np.maximum(right - 1, 0)
    near = np.minimum(relative_entropy(grid, rates[left]), relative_entropy(grid, rates[right]))
    return near.max()


@pytest.mark.parametrize(("horizon", "levels"), [(2_700, 83), (9_000, 149), (27_000, 259), (54_000, 365)])
def test_the_number_of_switching_rates_is_as_published(horizon: int, levels: int) -> None:
    """The number is about sqrt(2T)."""
    assert switching_rates(horizon=horizon).size == levels
    assert levels == pytest.approx(math.sqrt(2 * horizon), rel=0.15)


def test_the_first_switching_rates_for_27000_rounds_are_as_published() -> None:
    """The levels are 1.852e-5, 1.066e-4 and 2.688e-4, to four digits."""
    assert [f"{rate:.3e}" for rate in switching_rates(27_000)[:3]] == ["1.852e-05", "1.066e-04", "2.688e-04"]


@pytest.mark.parametrize("horizon", [1, 2, 10, 101.5, 2_700, 27_000])
def test_every_rate_lies_within_delta_of_some_rate_of_the_set(horizon: float) -> None:
    """Equation (2.12) defines the levels so. Rounding is allowed, and the worst case is almost attained."""
    delta = 1 / (2 * horizon)
    assert 0.98 * delta < farthest(switching_rates(horizon)) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("horizon", [10, 300, 2_700])
def test_every_switching_rate_except_one_half_is_needed_to_cover_the_range(horizon: int) -> None:
    """Some alpha* is farther than delta from all levels if any other level is removed."""
    rates = switching_rates(horizon)
    for index in range(rates.size):
        if rates[index] != 0.5:
            assert farthest(np.delete(rates, index)) > 1.01 / (2 * horizon)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 100_000))
def test_switching_rates_increase_and_are_symmetric_about_one_half(horizon) -> None:
    """All levels are within (0, 1), and 1/2 is in the middle."""
    rates = switching_rates(horizon)
    assert 0 < rates[0] < rates[-1] < 1
    assert (np.diff(rates) > 0).all()
    assert rates == pytest.approx(1 - rates[::-1], abs=1e-15)
    assert rates[rates.size // 2] == 0.5


def test_relative_entropy_agrees_with_hand_computed_values() -> None:
    """D(p||q) is 0 only for equal rates, and infinite if q excludes events of p."""
    assert relative_entropy(0.5, 0.25) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))
    assert relative_entropy([0, 0, 1, 0.3], [0.5, 0, 1, 0.3]).tolist() == [math.log(2), 0, 0, 0]
    assert relative_entropy([0.1, 0.1], [0, 1]).tolist() == [math.inf, math.inf]


@pytest.mark.parametrize("horizon", [0, -5, math.nan, math.inf, "9", None, True])
def test_an_invalid_horizon_is_an_error(horizon) -> None:
    """The message has the value and the range."""
    with pytest.raises(
        InputError, match=r"the horizon must be a number >= 1 and <= 1e\+09, got " + re.escape(repr(horizon))
    ):
        switching_rates(horizon)
