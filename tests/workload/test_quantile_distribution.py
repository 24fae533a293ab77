"""Distributions known by their quantiles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.workload.distributions import INTERPOLATIONS, QuantileDistribution


@st.composite
def tables(draw, interpolation):
    """A random valid table."""
    n = draw(st.integers(1, 6))
    p = sorted(draw(st.lists(st.integers(0, 99), min_size=n, max_size=n)))
    v = sorted(draw(st.lists(st.integers(1, 10_000), min_size=n + 1, max_size=n + 1)))
    return QuantileDistribution(np.array([*p, 100]) / 100, np.array(v, dtype=float), interpolation)


def test_linear_interpolation_by_hand() -> None:
    """Halfway between two points lies their mean; the mean is the area under the quantile function."""
    table = QuantileDistribution(np.array([0, 0.5, 1]), np.array([0, 10, 30]))
    assert table.at([0, 0.25, 0.5, 0.75, 1]).tolist() == [0, 5, 10, 20, 30]
    assert table.mean == pytest.approx(0.5 * 5 + 0.5 * 20)


def test_log_interpolation_by_hand() -> None:
    """Halfway lies the geometric mean; the area of 1..e is e - 1."""
    table = QuantileDistribution(np.array([0, 1]), np.array([1, math.e]), "log")
    assert table.at([0.5])[0] == pytest.approx(math.sqrt(math.e))
    assert table.mean == pytest.approx(math.e - 1)


def test_a_step_table_is_the_exact_distribution_of_a_discrete_quantity() -> None:
    """Only the table's values occur, with the differences of the probabilities."""
    table = QuantileDistribution(np.array([0.5, 0.75, 1]), np.array([1, 2, 6]), "step")
    assert table.at([0.001, 0.5, 0.501, 0.75, 0.751, 1]).tolist() == [1, 1, 2, 2, 6, 6]
    assert table.mean == pytest.approx(0.5 * 1 + 0.25 * 2 + 0.25 * 6)
    assert table.probability(2) == 0.75
    assert table.probability(5.9) == 0.75


def test_a_jump_draws_nothing_between_its_two_values() -> None:
    """Two points of one probability leave a gap in the values."""
    table = QuantileDistribution(np.array([0, 0.5, 0.5, 1]), np.array([1, 2, 100, 101]))
    drawn = table.at(np.linspace(0, 1, 1001))
    assert not ((drawn > 2) & (drawn < 100)).any()
    assert table.probability(50) == 0.5


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@given(data=st.data())
def test_the_quantile_function_never_falls_and_its_integral_is_the_area_under_it(interpolation, data) -> None:
    """Any table: q is monotone, the integral agrees with a fine sum, probability inverts q."""
    table = data.draw(tables(interpolation))
    u = (np.arange(20_000) + 0.5) / 20_000
    q = table.at(u)
    assert (np.diff(q) >= -1e-9 * q[1:]).all()
    assert table.mean == pytest.approx(q.mean(), rel=5e-3)
    assert float(table.integral(0.37)) == pytest.approx(q[u <= 0.37].sum() / u.size, rel=5e-3, abs=1)
    middle = float(table.at(0.61))
    assert table.probability(middle * (1 + 1e-9)) >= 0.61 - 1e-9


@pytest.mark.parametrize(
    ("p", "v", "interpolation", "message"),
    [
        ([], [], "linear", "the table is empty"),
        ([0.5, 0.9], [1, 2], "linear", "probabilities must not decrease"),
        ([0, 1], [2, 1], "linear", "values must not decrease"),
        ([0, 1], [0, 1], "log", "log interpolation requires values above 0, got 0"),
        ([0, 1], [0, math.nan], "linear", "not finite"),
        ([0, 1], [0, 1], "cubic", "interpolation must be one of linear, log, step, got 'cubic'"),
    ],
)
def test_a_table_that_is_no_distribution_is_refused(p, v, interpolation: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        QuantileDistribution(np.array(p), np.array(v), interpolation)
