"""What every loss must keep, whoever wrote it: a new name in the registry is tested here unasked."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psm_sim.losses import LOSSES, Loss, Poll, check_loss, make_loss

EXAMPLES = [*LOSSES.names(), "gamma * I * Ti**2 / (2*T) + 1/log(Ti)", "where(I > 0, Ti, 1/Ti)"]

times = st.lists(st.floats(2, 1e5), min_size=1, max_size=20).map(np.array)
polls = st.builds(Poll, st.floats(1, 1e5), st.integers(0, 10**7), st.integers(0, 1000))


@pytest.fixture(params=EXAMPLES)
def loss(request: pytest.FixtureRequest) -> Loss:
    """Return one loss after the other."""
    return make_loss(request.param)


def test_a_loss_passes_its_own_check(loss: Loss) -> None:
    """Probed before a run, it is found in order."""
    check_loss(loss, np.arange(100.0, 1201.0, 100.0))


@given(poll=polls, times_ms=times)
def test_there_is_one_finite_loss_of_0_or_more_for_each_candidate(poll: Poll, times_ms: np.ndarray) -> None:
    """Whatever was held and however many candidates there are."""
    for what in EXAMPLES:
        losses = make_loss(what)(poll, times_ms)
        assert losses.shape == times_ms.shape
        assert losses.dtype == np.float64
        assert np.all(np.isfinite(losses))
        assert np.all(losses >= 0)


@given(poll=polls, more=st.integers(1, 10**6), times_ms=times)
def test_more_bytes_held_never_cost_less(poll: Poll, more: int, times_ms: np.ndarray) -> None:
    """The latency term grows with the bytes that waited."""
    fuller = Poll(poll.slept_ms, poll.held_bytes + more)
    for name in LOSSES.names():
        loss = make_loss(name)
        assert np.all(loss(fuller, times_ms) >= loss(poll, times_ms))


@given(times_ms=st.lists(st.floats(2, 1e5), min_size=2, max_size=20).map(np.sort))
def test_with_nothing_held_a_longer_time_never_costs_more(times_ms: np.ndarray) -> None:
    """Only energy is left, and sleeping longer saves it."""
    for name in LOSSES.names():
        assert np.all(np.diff(make_loss(name)(Poll(100.0), times_ms)) <= 0)


def test_candidate_times_are_not_changed(loss: Loss) -> None:
    """The caller's array is read, not written."""
    times_ms = np.arange(100.0, 1201.0, 100.0)
    loss(Poll(300.0, 1500, 1), times_ms)
    np.testing.assert_array_equal(times_ms, np.arange(100.0, 1201.0, 100.0))


def test_what_was_asked_before_makes_no_difference(loss: Loss) -> None:
    """What a loss remembers of one set of candidates is not used for another, even in the same array."""
    times_ms = np.array([100.0, 200.0])
    poll = Poll(150.0, 900, 1)
    first = loss(poll, times_ms).copy()
    times_ms[:] = [700.0, 900.0]
    np.testing.assert_array_equal(loss(poll, times_ms), copy.deepcopy(loss)(poll, np.array([700.0, 900.0])))
    np.testing.assert_array_equal(loss(poll, np.array([100.0, 200.0])), first)


def test_losses_handed_out_stay_as_they_were(loss: Loss) -> None:
    """Writing to an array that a loss returned fails, or at least reaches no later round."""
    times_ms = np.array([100.0, 200.0])
    expected = loss(Poll(100.0), times_ms).copy()
    returned = loss(Poll(100.0), times_ms)
    if returned.flags.writeable:
        returned += 1
    np.testing.assert_array_equal(loss(Poll(100.0), times_ms), expected)


def test_pickling_and_copying_change_nothing(loss: Loss) -> None:
    """A loss may travel to another process, used or unused."""
    times_ms = np.arange(100.0, 1201.0, 100.0)
    poll = Poll(300.0, 1500, 1)
    expected = loss(poll, times_ms)
    for twin in (pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss)):  # noqa: S301
        assert twin == loss
        np.testing.assert_array_equal(twin(poll, times_ms), expected)
