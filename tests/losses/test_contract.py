"""Contract checks of the built-in losses, and further laws of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.contracts.loss_checks import LOSS_CHECKS
from psm_sim.contracts.report import Check, run_check
from psm_sim.losses import LOSSES, Poll, make_loss
from tests.contracts.cases import Exceptions, cases

NAMED = [*LOSSES.names(), "arrival-aware:energy=inverse", "retrieval-energy:energy=inverse,byte_uj=500"]
EXAMPLES = [*NAMED, "gamma * I * Ti**2 / (2*T) + 1/log(Ti)", "where(I > 0, Ti, 1/Ti)"]
EXCEPTIONS: Exceptions = {}
BUILT_IN = {name: make_loss(name) for name in EXAMPLES}

times = st.lists(st.floats(2, 1e5), min_size=1, max_size=20).map(np.array)
shares = st.lists(st.tuples(st.floats(0, 1), st.integers(40, 1500)), max_size=30)


def timed(slept_ms: float, frames: list[tuple[float, int]], untimed: int = 0) -> Poll:
    """Return a poll with *frames*, each at a share of the doze, and *untimed* bytes without arrival times."""
    arrivals = tuple(sorted((share * slept_ms, size) for share, size in frames))
    return Poll(slept_ms, untimed + sum(size for _, size in frames), len(frames), arrivals)


polls = st.builds(timed, st.floats(1, 1e5), shares, st.just(0) | st.integers(0, 10**7))


@pytest.mark.parametrize(("name", "check"), cases(LOSS_CHECKS, EXAMPLES, EXCEPTIONS))
def test_a_built_in_loss_passes_every_check(name: str, check: Check) -> None:
    """The checks are those of ``psm_sim check``."""
    assert run_check(check, make_loss(name)).fault == ""


@given(poll=polls, time_ms=st.floats(2, 1e5))
def test_the_loss_of_a_polling_time_does_not_depend_on_other_candidates(poll: Poll, time_ms: float) -> None:
    """Losses are bit-for-bit equal, because a replay evaluates single times."""
    for loss in BUILT_IN.values():
        assert loss.at(poll, time_ms) == loss(poll, np.array([time_ms]))[0]


@given(poll=polls, more=st.integers(1, 10**6), times_ms=times)
def test_more_buffered_bytes_never_lower_the_loss(poll: Poll, more: int, times_ms: np.ndarray) -> None:
    """The latency term grows with the waiting bytes."""
    fuller = Poll(poll.slept_ms, poll.buffered_bytes + more, poll.buffered_frames, poll.arrivals)
    for name in NAMED:
        loss = BUILT_IN[name]
        assert np.all(loss(fuller, times_ms) >= loss(poll, times_ms))


@given(
    slept_ms=st.floats(1, 1e5),
    frames=shares,
    one=st.tuples(st.floats(0, 1), st.integers(1, 1500)),
    times_ms=times,
)
def test_an_additional_frame_never_lowers_the_loss(
    slept_ms: float, frames: list[tuple[float, int]], one: tuple[float, int], times_ms: np.ndarray
) -> None:
    """The arrival time of the frame does not matter."""
    few, more = timed(slept_ms, frames), timed(slept_ms, [*frames, one])
    for name in NAMED:
        loss = BUILT_IN[name]
        least = loss(few, times_ms)
        assert np.all(loss(more, times_ms) >= least * (1 - 1e-12))


@given(times_ms=st.lists(st.floats(2, 1e5), min_size=2, max_size=20).map(np.sort))
def test_without_buffered_frames_a_longer_polling_time_never_raises_the_loss(times_ms: np.ndarray) -> None:
    """Only the energy term is left."""
    for name in NAMED:
        assert np.all(np.diff(BUILT_IN[name](Poll(100.0), times_ms)) <= 0)
