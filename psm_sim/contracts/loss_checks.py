"""Contract checks of losses."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.contracts.check_suite import (
    ODD_POLLS,
    POLLS,
    Subject,
    Suite,
    can_be_copied,
    default_parameters,
    documented,
    pickle_round_trip,
    require,
)
from psm_sim.losses import Loss, Poll, check_loss
from psm_sim.losses.user_loss_guard import describe_loss_error

TIMES_MS: FloatArray = np.arange(100.0, 1201.0, 100.0)
"""Candidate polling times of an ``lpsm`` with default parameters, shape (12,), in ms."""
TIMES_MS.flags.writeable = False
SAMPLE_POLLS = tuple(poll for poll in POLLS if poll is not None)
"""Typical observations at a beacon."""
TYPICAL_POLL = Poll(300.0, 1500, 1, ((120.0, 1500),))
"""Observation with one buffered frame."""

LOSS_CHECKS = Suite[Subject[Loss]]("loss")


def losses_of(loss: Loss, poll: Poll, times_ms: FloatArray = TIMES_MS) -> FloatArray:
    """Return a copy of the losses of *loss* for *poll* and *times_ms*, and require that they are valid."""
    losses = loss(deepcopy(poll), times_ms)
    fault = describe_loss_error(losses, times_ms)
    require(
        not fault, f"It {fault} with {poll.buffered_bytes} bytes buffered after {poll.slept_ms:g} ms asleep."
    )
    return losses.copy()


def observe_dozes(loss: Loss) -> Loss:
    """Start a run of *loss* itself, let it observe several dozes, and return it."""
    loss.start()
    for poll in (*SAMPLE_POLLS, TYPICAL_POLL, *ODD_POLLS):
        loss.observe(deepcopy(poll))
    return loss


def _require_equal(losses: FloatArray, expected: FloatArray, situation: str) -> None:
    for number, (loss, expected_loss) in enumerate(zip(losses.tolist(), expected.tolist(), strict=True)):
        require(
            loss == expected_loss,
            f"{situation} the loss of candidate {number} is {loss}; expected {expected_loss}.",
        )


LOSS_CHECKS.gate(can_be_copied)
LOSS_CHECKS.check(default_parameters)
LOSS_CHECKS.check(documented)


@LOSS_CHECKS.gate
def usable_in_a_run(subject: Subject[Loss]) -> None:
    """It returns one finite loss >= 0, in nats, per candidate, with no, few and many buffered frames."""
    check_loss(subject.fresh(), TIMES_MS)


@LOSS_CHECKS.check
def copies(subject: Subject[Loss]) -> None:
    """A deep copy returns the same losses as the original, and neither changes the other."""
    loss = observe_dozes(subject.fresh())
    before = losses_of(loss, TYPICAL_POLL)
    copied = deepcopy(loss)
    _require_equal(losses_of(copied, TYPICAL_POLL), before, "For a deep copy")
    observe_dozes(copied)
    _require_equal(losses_of(loss, TYPICAL_POLL), before, "After using a deep copy")


@LOSS_CHECKS.check
def pickles(subject: Subject[Loss]) -> None:
    """A pickled copy returns the same losses as the original, so that runs can use several processes."""
    loss = observe_dozes(subject.fresh())
    _require_equal(
        losses_of(pickle_round_trip(loss), TYPICAL_POLL), losses_of(loss, TYPICAL_POLL), "For a pickled copy"
    )


@LOSS_CHECKS.check
def any_candidates(subject: Subject[Loss]) -> None:
    """One candidate is supported as well as five hundred."""
    loss = subject.fresh()
    for times_ms in (TIMES_MS[:1], TIMES_MS[-1:], np.linspace(100.0, 1200.0, 500)):
        for poll in SAMPLE_POLLS:
            losses_of(loss, poll, times_ms)


@LOSS_CHECKS.check
def odd_polls(subject: Subject[Loss]) -> None:
    """Losses are finite and >= 0 after a nanosecond or a day asleep, and for bytes without arrival times."""
    loss = subject.fresh()
    for poll in ODD_POLLS:
        losses_of(loss, poll)


@LOSS_CHECKS.check
def leaves_arguments(subject: Subject[Loss]) -> None:
    """The candidate times, which can be read-only, and the polls are not modified."""
    loss, times_ms, poll = subject.fresh(), TIMES_MS.copy(), deepcopy(TYPICAL_POLL)
    loss(poll, times_ms)
    passed_times_ms = times_ms.tolist()
    require(passed_times_ms == TIMES_MS.tolist(), f"It modified the candidate times to {passed_times_ms}.")
    require(poll == TYPICAL_POLL, f"It modified the poll to {poll}; expected {TYPICAL_POLL}.")
    times_ms.flags.writeable = False
    losses_of(loss, poll, times_ms)


@LOSS_CHECKS.check
def pure(subject: Subject[Loss]) -> None:
    """A repeated call returns the same losses, because only observe() changes the loss."""
    loss = subject.fresh()
    loss.start()
    first = losses_of(loss, TYPICAL_POLL)
    for poll in (TYPICAL_POLL, *SAMPLE_POLLS, *ODD_POLLS):
        losses_of(loss, poll)
    _require_equal(losses_of(loss, TYPICAL_POLL), first, "In a repeated call")


@LOSS_CHECKS.check
def candidates_kept_apart(subject: Subject[Loss]) -> None:
    """Values cached for one set of candidates are not used for another, even in the same array."""
    loss, times_ms, others_ms = subject.fresh(), TIMES_MS[:2].copy(), TIMES_MS[-2:]
    first = losses_of(loss, TYPICAL_POLL, times_ms)
    times_ms[:] = others_ms
    _require_equal(
        losses_of(loss, TYPICAL_POLL, times_ms),
        losses_of(subject.fresh(), TYPICAL_POLL, others_ms),
        "For new candidates",
    )
    _require_equal(
        losses_of(loss, TYPICAL_POLL, TIMES_MS[:2]), first, "In a repeated call for the first candidates"
    )


@LOSS_CHECKS.check
def answers_kept_apart(subject: Subject[Loss]) -> None:
    """A returned array is not changed by later calls, and writing to it does not change later results."""
    loss, empty_poll = subject.fresh(), Poll(100.0)
    returned = loss(empty_poll, TIMES_MS)
    expected = returned.copy()
    losses_of(loss, TYPICAL_POLL)
    _require_equal(returned, expected, "In a returned array, after another call,")
    if returned.flags.writeable:
        returned += 1
    _require_equal(losses_of(loss, empty_poll), expected, "After the caller wrote to a returned array")


@LOSS_CHECKS.check
def starts_anew(subject: Subject[Loss]) -> None:
    """After start() it returns the same losses as a new instance, so no run depends on an earlier one."""
    used, new = observe_dozes(subject.fresh()), subject.fresh()
    for loss in (used, new):
        loss.start()
    _require_equal(losses_of(used, TYPICAL_POLL), losses_of(new, TYPICAL_POLL), "After start()")


@LOSS_CHECKS.check
def usable_once_told(subject: Subject[Loss]) -> None:
    """Losses are valid, and equal for copies, also after observe() was called for unusual dozes."""
    loss = observe_dozes(subject.fresh())
    for poll in (*SAMPLE_POLLS, *ODD_POLLS):
        expected = losses_of(loss, poll)
        _require_equal(losses_of(deepcopy(loss), poll), expected, "For a copy made after some dozes")
