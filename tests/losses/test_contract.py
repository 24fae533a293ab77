"""The checks that every loss must pass, on the built-in ones, and what holds for these besides."""

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
MADE = {what: make_loss(what) for what in EXAMPLES}

times = st.lists(st.floats(2, 1e5), min_size=1, max_size=20).map(np.array)
shares = st.lists(st.tuples(st.floats(0, 1), st.integers(40, 1500)), max_size=30)


def timed(slept_ms: float, frames: list[tuple[float, int]], untimed: int = 0) -> Poll:
    """Return a poll with *frames*, each at a share of the doze, and bytes whose times are not known."""
    arrivals = tuple(sorted((share * slept_ms, size) for share, size in frames))
    return Poll(slept_ms, untimed + sum(size for _, size in frames), len(frames), arrivals)


polls = st.builds(timed, st.floats(1, 1e5), shares, st.just(0) | st.integers(0, 10**7))


@pytest.mark.parametrize(("what", "check"), cases(LOSS_CHECKS, EXAMPLES, EXCEPTIONS))
def test_a_built_in_loss_passes_every_check(what: str, check: Check) -> None:
    """The same checks as ``psm_sim check`` runs on a user's loss."""
    assert run_check(check, make_loss(what)).fault == ""


@given(poll=polls, times_ms=times)
def test_there_is_one_finite_loss_of_0_or_more_for_each_candidate(poll: Poll, times_ms: np.ndarray) -> None:
    """Whatever was held and however many candidates there are."""
    for loss in MADE.values():
        losses = loss(poll, times_ms)
        assert losses.shape == times_ms.shape
        assert losses.dtype == np.float64
        assert np.all(np.isfinite(losses))
        assert np.all(losses >= 0)


@given(poll=polls, time_ms=st.floats(2, 1e5))
def test_a_single_polling_time_costs_what_it_costs_among_others(poll: Poll, time_ms: float) -> None:
    """To the last bit: a replay asks about the time it slept in this shorter way."""
    for loss in MADE.values():
        assert loss.at(poll, time_ms) == loss(poll, np.array([time_ms]))[0]


@given(poll=polls, more=st.integers(1, 10**6), times_ms=times)
def test_more_bytes_held_never_cost_less(poll: Poll, more: int, times_ms: np.ndarray) -> None:
    """The latency term grows with the bytes that waited."""
    fuller = Poll(poll.slept_ms, poll.buffered_bytes + more, poll.buffered_frames, poll.arrivals)
    for name in NAMED:
        loss = MADE[name]
        assert np.all(loss(fuller, times_ms) >= loss(poll, times_ms))


@given(
    slept_ms=st.floats(1, 1e5),
    frames=shares,
    one=st.tuples(st.floats(0, 1), st.integers(1, 1500)),
    times_ms=times,
)
def test_one_frame_more_never_costs_less(
    slept_ms: float, frames: list[tuple[float, int]], one: tuple[float, int], times_ms: np.ndarray
) -> None:
    """Whenever it reached the access point."""
    few, more = timed(slept_ms, frames), timed(slept_ms, [*frames, one])
    for name in NAMED:
        loss = MADE[name]
        least = loss(few, times_ms)
        assert np.all(loss(more, times_ms) >= least * (1 - 1e-12))


@given(times_ms=st.lists(st.floats(2, 1e5), min_size=2, max_size=20).map(np.sort))
def test_with_nothing_held_a_longer_time_never_costs_more(times_ms: np.ndarray) -> None:
    """Only energy is left, and sleeping longer saves it."""
    for name in NAMED:
        assert np.all(np.diff(MADE[name](Poll(100.0), times_ms)) <= 0)
