"""Loss checks: what a loss answers for the candidate polling times of an LPSM policy."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.contracts.check_suite import Subject, Suite, pickle_round_trip, require
from psm_sim.contracts.policy import ODD_POLLS, POLLS
from psm_sim.contracts.shared_checks import can_be_copied, default_parameters, documented
from psm_sim.losses import Loss, Poll, check_loss
from psm_sim.losses.loss_validation import describe_loss_error

TIMES_MS: FloatArray = np.arange(100.0, 1201.0, 100.0)
TIMES_MS.flags.writeable = False
"""The candidates of an ``lpsm`` with default parameters, shape (12,), in ms."""
SAMPLE_POLLS = tuple(poll for poll in POLLS if poll is not None)
TYPICAL_POLL = Poll(300.0, 1500, 1, ((120.0, 1500),))

LOSS_CHECKS = Suite[Subject[Loss]]("loss")


def losses_of(loss: Loss, poll: Poll, times_ms: FloatArray = TIMES_MS) -> FloatArray:
    """Return a copy of what *loss* says of *poll* for the candidates *times_ms*, shape (n,), found usable."""
    losses = loss(deepcopy(poll), times_ms)
    fault = describe_loss_error(losses, times_ms)
    require(not fault, f"It {fault} with {poll.buffered_bytes} bytes held after {poll.slept_ms:g} ms asleep.")
    return losses.copy()


def observe_dozes(loss: Loss) -> Loss:
    """Begin a run of *loss* itself, tell it of some dozes, and return it."""
    loss.start()
    for poll in (*SAMPLE_POLLS, TYPICAL_POLL, *ODD_POLLS):
        loss.observe(deepcopy(poll))
    return loss


def _require_equal(found: FloatArray, expected: FloatArray, what: str) -> None:
    for number, (loss, wanted) in enumerate(zip(found.tolist(), expected.tolist(), strict=True)):
        require(loss == wanted, f"{what} the loss of candidate {number} is {loss}; expected {wanted}.")


LOSS_CHECKS.gate(can_be_copied)
LOSS_CHECKS.check(default_parameters)
LOSS_CHECKS.check(documented)


@LOSS_CHECKS.gate
def usable_in_a_run(subject: Subject[Loss]) -> None:
    """One finite loss of 0 or more, in nats, for each candidate; nothing, little and much held."""
    check_loss(subject.fresh(), TIMES_MS)


@LOSS_CHECKS.check
def copies(subject: Subject[Loss]) -> None:
    """A deep copy answers as the original does, and neither changes the other."""
    loss = observe_dozes(subject.fresh())
    before = losses_of(loss, TYPICAL_POLL)
    twin = deepcopy(loss)
    _require_equal(losses_of(twin, TYPICAL_POLL), before, "Of a deep copy")
    observe_dozes(twin)
    _require_equal(losses_of(loss, TYPICAL_POLL), before, "After a deep copy was used")


@LOSS_CHECKS.check
def pickles(subject: Subject[Loss]) -> None:
    """A pickled copy answers as the original does, so that runs can share several processes."""
    loss = observe_dozes(subject.fresh())
    _require_equal(
        losses_of(pickle_round_trip(loss), TYPICAL_POLL), losses_of(loss, TYPICAL_POLL), "Of a pickled copy"
    )


@LOSS_CHECKS.check
def any_candidates(subject: Subject[Loss]) -> None:
    """One candidate is answered as well as five hundred."""
    loss = subject.fresh()
    for times_ms in (TIMES_MS[:1], TIMES_MS[-1:], np.linspace(100.0, 1200.0, 500)):
        for poll in SAMPLE_POLLS:
            losses_of(loss, poll, times_ms)


@LOSS_CHECKS.check
def odd_polls(subject: Subject[Loss]) -> None:
    """Losses are finite and 0 or more after a nanosecond or a day asleep, and for bytes without times."""
    loss = subject.fresh()
    for poll in ODD_POLLS:
        losses_of(loss, poll)


@LOSS_CHECKS.check
def leaves_arguments(subject: Subject[Loss]) -> None:
    """The candidate times, which can be read-only, and the polls it leaves as they were."""
    loss, times_ms, poll = subject.fresh(), TIMES_MS.copy(), deepcopy(TYPICAL_POLL)
    loss(poll, times_ms)
    found = times_ms.tolist()
    require(found == TIMES_MS.tolist(), f"It changed the candidate times to {found}.")
    require(poll == TYPICAL_POLL, f"It changed the poll to {poll}; expected it left as {TYPICAL_POLL}.")
    times_ms.flags.writeable = False
    losses_of(loss, poll, times_ms)


@LOSS_CHECKS.check
def pure(subject: Subject[Loss]) -> None:
    """Asked again it answers the same, whatever it was asked between: only observe() changes it."""
    loss = subject.fresh()
    loss.start()
    first = losses_of(loss, TYPICAL_POLL)
    for poll in (TYPICAL_POLL, *SAMPLE_POLLS, *ODD_POLLS):
        losses_of(loss, poll)
    _require_equal(losses_of(loss, TYPICAL_POLL), first, "Asked again")


@LOSS_CHECKS.check
def candidates_kept_apart(subject: Subject[Loss]) -> None:
    """Memory of one set of candidates is not used for another, even in the same array."""
    loss, times_ms, others_ms = subject.fresh(), TIMES_MS[:2].copy(), TIMES_MS[-2:]
    first = losses_of(loss, TYPICAL_POLL, times_ms)
    times_ms[:] = others_ms
    _require_equal(
        losses_of(loss, TYPICAL_POLL, times_ms),
        losses_of(subject.fresh(), TYPICAL_POLL, others_ms),
        "For new candidates",
    )
    _require_equal(losses_of(loss, TYPICAL_POLL, TIMES_MS[:2]), first, "For the first candidates again")


@LOSS_CHECKS.check
def answers_kept_apart(subject: Subject[Loss]) -> None:
    """An array handed out is not written by later questions, nor are they answered from it."""
    loss, nothing = subject.fresh(), Poll(100.0)
    returned = loss(nothing, TIMES_MS)
    expected = returned.copy()
    losses_of(loss, TYPICAL_POLL)
    _require_equal(returned, expected, "Once handed out and another question asked")
    if returned.flags.writeable:
        returned += 1
    _require_equal(losses_of(loss, nothing), expected, "After the caller wrote to the array handed out")


@LOSS_CHECKS.check
def starts_anew(subject: Subject[Loss]) -> None:
    """After start() it answers as a new one does: a run never begins with another's experience."""
    used, new = observe_dozes(subject.fresh()), subject.fresh()
    for loss in (used, new):
        loss.start()
    _require_equal(losses_of(used, TYPICAL_POLL), losses_of(new, TYPICAL_POLL), "Started again")


@LOSS_CHECKS.check
def usable_once_told(subject: Subject[Loss]) -> None:
    """Losses are usable and copies answer alike also after it was told of dozes, however odd."""
    loss = observe_dozes(subject.fresh())
    for poll in (*SAMPLE_POLLS, *ODD_POLLS):
        expected = losses_of(loss, poll)
        _require_equal(losses_of(deepcopy(loss), poll), expected, "Of a copy made after some dozes")
