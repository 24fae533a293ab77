"""Polling times of the experts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.common.errors import InputError
from psm_sim.policies.helpers.polling_times import polling_times_ms, polls_in_horizon


@given(st.floats(1, 500), st.integers(1, 200), st.floats(0.1, 300))
def test_polling_times_are_evenly_spaced_from_shortest_to_longest(
    min_ms: float, steps: int, step_ms: float
) -> None:
    """Both ends are polling times if a whole number of steps fits."""
    times_ms = polling_times_ms(min_ms, min_ms + steps * step_ms, step_ms, "experts")
    assert times_ms.size == steps + 1
    assert times_ms[0] == min_ms
    assert np.diff(times_ms) == pytest.approx(step_ms)


def test_polling_times_end_at_the_last_step_below_the_maximum() -> None:
    """A maximum of 390 ms gives 100, 200 and 300 ms."""
    assert polling_times_ms(100.0, 390.0, 100.0, "experts").tolist() == [100.0, 200.0, 300.0]


@pytest.mark.parametrize(("horizon_s", "polls"), [(2700.0, 27_000), (0.16, 2), (0.1, 1), (0.001, 1)])
def test_a_horizon_has_one_poll_per_beacon_and_at_least_one(horizon_s: float, polls: int) -> None:
    """The beacon interval is 100 ms."""
    assert polls_in_horizon(horizon_s, 0.1, "owner") == polls


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((200.0, 100.0, 10.0), r"owner: max_ms must be at least min_ms \(200\), got 100"),
        ((100.0, 150.0, 100.0), "owner: .* define 1 experts; expected 2 to 10000"),
        ((1.0, 1e9, 5e-324), "owner: .* define 1000000001 experts; expected 2 to 10000"),
    ],
)
def test_too_few_or_too_many_polling_times_are_an_error(
    numbers: tuple[float, float, float], message: str
) -> None:
    """The message uses the parameter names of the caller."""
    with pytest.raises(InputError, match=message):
        polling_times_ms(*numbers, "owner")
