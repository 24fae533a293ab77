"""Distributions: quantile tables, families, their samples in traces, and errors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.workload import load_workload
from psm_sim.workload.distributions import INTERPOLATIONS, QuantileDistribution, distribution_family


@st.composite
def tables(draw, interpolation):
    """Generate a valid table."""
    n = draw(st.integers(1, 6))
    p = sorted(draw(st.lists(st.integers(0, 99), min_size=n, max_size=n)))
    v = sorted(draw(st.lists(st.integers(1, 10_000), min_size=n + 1, max_size=n + 1)))
    return QuantileDistribution(np.array([*p, 100]) / 100, np.array(v, dtype=float), interpolation)


def test_linear_interpolation_has_the_hand_computed_mean() -> None:
    """The value halfway between two points is their mean.

    The area under the quantile function is the mean.
    """
    table = QuantileDistribution(np.array([0, 0.5, 1]), np.array([0, 10, 30]))
    assert table.at([0, 0.25, 0.5, 0.75, 1]).tolist() == [0, 5, 10, 20, 30]
    assert table.mean == pytest.approx(0.5 * 5 + 0.5 * 20)


def test_log_interpolation_has_the_hand_computed_mean() -> None:
    """The value halfway is the geometric mean; the area of 1..e is e - 1."""
    table = QuantileDistribution(np.array([0, 1]), np.array([1, math.e]), "log")
    assert table.at([0.5])[0] == pytest.approx(math.sqrt(math.e))
    assert table.mean == pytest.approx(math.e - 1)


def test_a_step_table_is_the_exact_distribution_of_a_discrete_quantity() -> None:
    """Only values of the table occur, with the differences of the probabilities."""
    table = QuantileDistribution(np.array([0.5, 0.75, 1]), np.array([1, 2, 6]), "step")
    assert table.at([0.001, 0.5, 0.501, 0.75, 0.751, 1]).tolist() == [1, 1, 2, 2, 6, 6]
    assert table.mean == pytest.approx(0.5 * 1 + 0.25 * 2 + 0.25 * 6)
    assert table.probability(2) == 0.75
    assert table.probability(5.9) == 0.75


def test_no_value_inside_a_jump_of_the_distribution_is_sampled() -> None:
    """Two points with the same probability leave a gap in the values."""
    table = QuantileDistribution(np.array([0, 0.5, 0.5, 1]), np.array([1, 2, 100, 101]))
    drawn = table.at(np.linspace(0, 1, 1001))
    assert not ((drawn > 2) & (drawn < 100)).any()
    assert table.probability(50) == 0.5


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@given(data=st.data())
def test_the_quantile_function_is_monotone_with_the_right_integral(interpolation, data) -> None:
    """The integral agrees with a fine sum, and probability() inverts the quantile function."""
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
def test_an_invalid_quantile_table_is_an_error(p, v, interpolation: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        QuantileDistribution(np.array(p), np.array(v), interpolation)


SHAPED = [
    *("constant", "uniform", "exponential", "gamma:2", "gamma:0.5", "gamma:8"),
    *("lognormal:1", "lognormal:2", "two-point:0.5", "two-point:0.9"),
]
FINE = (np.arange(100_000) + 0.5) / 100_000


@pytest.mark.parametrize("text", SHAPED)
def test_the_integral_of_a_distribution_family_equals_the_integral_of_its_quantiles(text):
    """The midpoint rule gives the integral up to any probability; the full integral is the mean."""
    distribution = distribution_family(text, 53.0, "")
    assert float(distribution.integral(1.0)) == pytest.approx(53.0, rel=1e-9)
    for upto in (0.1, 0.5, 0.9, 0.99):
        assert float(distribution.integral(upto)) == pytest.approx(
            distribution.at(upto * FINE).mean() * upto, rel=2e-3
        )


@pytest.mark.parametrize("text", ["uniform", "exponential", "gamma:2", "gamma:0.5", "lognormal:1.5"])
@given(u=st.floats(0.01, 0.99))
@settings(max_examples=30, deadline=None)
def test_the_probability_method_is_the_inverse_of_the_quantile_function(text, u):
    """Each family and any probability are tried."""
    distribution = distribution_family(text, 7.0, "")
    assert distribution.probability(float(distribution.at(u))) == pytest.approx(u, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "u", "value"),
    [
        ("constant", 0.3, 10.0),
        ("uniform", 0.75, 15.0),
        ("exponential", 1 - np.exp(-1), 10.0),
        ("gamma:1", 1 - np.exp(-2), 20.0),
        ("lognormal:1", 0.5, 10 * np.exp(-0.5)),
        ("two-point:0.75", 0.7, 0.0),
        ("two-point:0.75", 0.8, 40.0),
    ],
)
def test_distribution_families_have_the_hand_computed_quantiles(text, u, value):
    """The mean is 10."""
    assert float(distribution_family(text, 10.0, "").at(u)) == pytest.approx(value, rel=1e-12)


def think_times(trace: str, pages: int = 400) -> np.ndarray:
    """Return the think times of a trace, in seconds."""
    return np.array([page.think_s for page in load_workload(trace, pages, 3).pages])


@pytest.mark.parametrize("text", ["mah", *SHAPED[:-1]])
def test_think_times_of_every_family_have_the_mean_of_the_trace(text):
    """The tolerance is 3 %, the sampling error of 400 pages; a mean set by the user is exact."""
    own, drawn = think_times("ucb:think=trace"), think_times(f"ucb:think={text}")
    assert drawn.mean() == pytest.approx(own.mean(), rel=0.03)
    assert think_times(f"ucb:think={text},mean_think_s=20").mean() == pytest.approx(20, rel=1e-12)


def delays(text: str, pages: int = 200) -> np.ndarray:
    """Return the server delays of all objects, in seconds."""
    loaded = load_workload(f"ucb:server_delay_ms={text}", pages, 3).pages
    return np.array([delay for page in loaded for delay in page.server_delay_s])


@pytest.mark.parametrize("text", ["exponential:650", "gamma:650:3", "lognormal:650:1", "uniform:650"])
def test_server_delays_drawn_from_a_distribution_family_have_the_mean_of_the_family(text):
    """The mean is over the objects of 200 pages; delays differ from object to object."""
    assert delays(text).mean() == pytest.approx(0.65, rel=0.01)
    assert delays(text).std() > 0.1


def test_setting_the_delay_of_the_main_object_changes_no_other_delay_or_size():
    """Delays of images and all sizes are unchanged, for any distribution of the main object's delay."""
    before = load_workload("ucb", 50, 3).pages
    after = load_workload("ucb:main_delay_ms=650", 50, 3).pages
    assert {page.server_delay_s[0] for page in after} == {0.65}
    assert [page.server_delay_s[1:] for page in after] == [page.server_delay_s[1:] for page in before]
    same = [replace(page, server_delay_s=old.server_delay_s) for page, old in zip(after, before, strict=True)]
    assert same == list(before)
    drawn = load_workload("ucb:server_delay_ms=none,main_delay_ms=exponential:400", 200, 3).pages
    assert np.mean([page.server_delay_s[0] for page in drawn]) == pytest.approx(0.4, rel=0.01)
    assert {delay for page in drawn for delay in page.server_delay_s[1:]} == {0.0}


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("think=gama", "Did you mean 'gamma'"),
        ("think=uniform:3", "this family has no shape"),
        ("think=gamma:x", "the shape must be a number above 0"),
        ("think=lognormal", "is 'lognormal'; the deviation of the logarithm must be a number above 0"),
        ("server_delay_ms=two-point:3:1", "is 'two-point:3:1'; the share of zeros must be"),
        ("main_delay_ms=gamma", "main_delay_ms is 'gamma'; expected a mean in ms after the name"),
        ("server_delay_ms=soon", "must be a number from 0 to 1e.12, 'none' or 'trace'"),
        ("think=constant,mean_think_s=50,max_think_s=10", "max_think_s must be greater than 50"),
    ],
)
def test_an_invalid_distribution_specification_is_an_error(parameter, words):
    """The message has the value and the expected values."""
    with pytest.raises(InputError, match=words):
        load_workload(f"ucb:{parameter}", 3, 1)
