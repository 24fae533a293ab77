"""Contract checks of losses."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.contracts.report import Check, require
from psm_sim.contracts.shared_checks import (
    ODD_POLLS,
    POLLS,
    behaves_the_same_when_copied,
    behavior,
    can_be_copied,
    has_a_name_and_a_docstring,
    is_created_without_arguments,
    require_equal,
    starts_each_run_anew,
)
from psm_sim.losses import Loss, Poll, check_loss
from psm_sim.losses.user_loss_guard import IDLE_DOZES_MS, GuardedLoss

TIMES_MS: FloatArray = np.arange(100.0, 1201.0, 100.0)
"""Candidate polling times of an ``lpsm`` with default parameters, shape (12,), in ms."""
ALL_POLLS = tuple(poll for poll in (*POLLS, *ODD_POLLS) if poll is not None)
"""Typical and unusual observations at a beacon."""
TYPICAL_POLL = Poll(300.0, 1500, 1, ((120.0, 1500),))
"""Observation with one buffered frame."""


@behavior.register
def _losses_after_dozes(loss: Loss) -> list[list[float]]:
    loss.start()
    for poll in ALL_POLLS:
        loss.observe(deepcopy(poll))
    return [_losses(loss, poll) for poll in (TYPICAL_POLL, *ALL_POLLS)]


def _losses(loss: Loss, poll: Poll, times_ms: FloatArray = TIMES_MS) -> list[float]:
    losses: list[float] = GuardedLoss(loss)(deepcopy(poll), times_ms).tolist()
    return losses


def returns_a_finite_loss_for_each_candidate(loss: Loss) -> None:
    """For any poll and candidates, it returns one finite loss >= 0 per candidate, in nats."""
    check_loss(loss, TIMES_MS)
    for times_ms in (TIMES_MS[:1], TIMES_MS[-1:], np.linspace(100.0, 1200.0, 500)):
        for poll in ALL_POLLS:
            _losses(loss, poll, times_ms)
    behavior(loss)


def returns_the_same_for_the_same_polls(loss: Loss) -> None:
    """Equal calls return equal losses, even with other polls and candidates in between."""
    loss.start()
    new, candidates_ms, others_ms = deepcopy(loss), TIMES_MS[:2].copy(), TIMES_MS[-2:]
    first = _losses(loss, TYPICAL_POLL, candidates_ms)
    for poll in ALL_POLLS:
        _losses(loss, poll)
    require_equal(_losses(loss, TYPICAL_POLL, candidates_ms), first, "A repeated call")
    candidates_ms[:] = others_ms
    result, expected = _losses(loss, TYPICAL_POLL, candidates_ms), _losses(new, TYPICAL_POLL, others_ms)
    require_equal(result, expected, "For new candidates in the same array it")


def shares_no_arrays(loss: Loss) -> None:
    """It does not modify its arguments. Returned arrays and later calls do not change each other."""
    times_ms, poll, empty_poll = TIMES_MS.copy(), deepcopy(TYPICAL_POLL), Poll(100.0)
    returned = loss(poll, times_ms)
    unchanged = times_ms.tolist() == TIMES_MS.tolist()
    require(unchanged, f"It modified the candidate times to {times_ms.tolist()}.")
    require(poll == TYPICAL_POLL, f"It modified the poll to {poll}; expected {TYPICAL_POLL}.")
    expected = returned.tolist()
    loss(empty_poll, times_ms)
    require_equal(returned.tolist(), expected, "After another call a returned array")
    if returned.flags.writeable:
        returned += 1
    require_equal(_losses(loss, TYPICAL_POLL, times_ms), expected, "After a write to a returned array it")


def idle_equals_call(loss: Loss) -> None:
    """If idle() returns losses, any doze without frames has these losses, and observe() ignores it."""
    loss.start()
    idle = GuardedLoss(loss).idle(TIMES_MS)
    if idle is None:
        return
    for poll in ALL_POLLS:
        loss.observe(deepcopy(poll))
    require_equal([_losses(loss, Poll(300.0))], [idle.tolist()], "After dozes with frames a call without any")
    expected = _losses(loss, TYPICAL_POLL)
    for slept_ms in IDLE_DOZES_MS.tolist():
        loss.observe(Poll(slept_ms))
    require_equal([_losses(loss, TYPICAL_POLL)], [expected], "After dozes without frames it")


LOSS_CHECKS: tuple[Check, ...] = (
    can_be_copied,
    returns_a_finite_loss_for_each_candidate,
    behaves_the_same_when_copied,
    has_a_name_and_a_docstring,
    is_created_without_arguments,
    returns_the_same_for_the_same_polls,
    shares_no_arrays,
    starts_each_run_anew,
    idle_equals_call,
)
"""Checks of a loss."""
