"""Each loss check finds the loss that was made to break it."""

from __future__ import annotations

import re
import threading
from typing import Any

import numpy as np
import pytest

from psm_sim.common.array_types import FloatArray
from psm_sim.contracts import check
from psm_sim.contracts.check_suite import Subject
from psm_sim.contracts.loss_checks import LOSS_CHECKS
from psm_sim.losses import Loss, Poll


class Good(Loss):
    """One over the polling time."""

    name = "good"

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate."""
        return np.asarray(self.factor(poll) / times_ms)

    def factor(self, poll: Poll) -> float:
        """Return what the loss of candidate 0 is multiplied by; what the losses below get wrong."""
        return 1.0


class Counting(Good):
    """Grows with every question."""

    def __init__(self) -> None:
        self.asked = 0

    def factor(self, poll: Poll) -> float:
        """Count the questions."""
        self.asked += 1
        return float(self.asked)


class Remembering(Good):
    """Adapts to what it is told, and never forgets."""

    def __init__(self) -> None:
        self.told = 0

    def observe(self, poll: Poll) -> None:
        """Count the dozes."""
        self.told += 1

    def factor(self, poll: Poll) -> float:
        """Grow with the dozes."""
        return 1.0 + self.told


class SharedByCopies(Good):
    """A deep copy shares what it keeps."""

    def __init__(self) -> None:
        self.told: list[Poll] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedByCopies:
        twin = type(self)()
        twin.told = self.told
        return twin

    def observe(self, poll: Poll) -> None:
        """Keep the doze."""
        self.told.append(poll)

    def factor(self, poll: Poll) -> float:
        """Grow with the dozes."""
        return 1.0 + len(self.told)


class ForgetsWhenPickled(Good):
    """Comes out of a pickle with another parameter."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def __getstate__(self) -> dict[str, Any]:
        return {"scale": 7.0}

    def __deepcopy__(self, memo: dict[int, Any]) -> ForgetsWhenPickled:
        return ForgetsWhenPickled(self.scale)

    def factor(self, poll: Poll) -> float:
        """Return what it was made with."""
        return self.scale


class NeedsAnArgument(Good):
    """Cannot be made without parameters."""

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma


class Locked(Good):
    """Keeps what cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


class Nameless(Good):
    """Has no name."""

    name = ""


class NegativeWhenFull(Good):
    """Falls below zero once much is held."""

    def factor(self, poll: Poll) -> float:
        """Subtract the bytes."""
        return 1e5 - poll.buffered_bytes


class TwelveOnly(Good):
    """Answers for twelve candidates whatever it is asked."""

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return twelve losses."""
        return np.ones(12)


class NeedsTimes(Good):
    """Takes for granted that the times of held bytes are known."""

    def factor(self, poll: Poll) -> float:
        """Divide by the number of frames."""
        return 1.0 if not poll.buffered_bytes else poll.buffered_bytes / len(poll.arrivals)


class WritesTimes(Good):
    """Works in the array that it was given."""

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Turn the times into losses."""
        np.divide(1.0, times_ms, out=times_ms)
        return times_ms


class WritesTimesIfItMay(Good):
    """Puts the candidate times in order, in place."""

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Turn the first time into 1."""
        if times_ms.flags.writeable:
            times_ms[0] = 1.0
        return 1.0 / times_ms


class ChangesThePoll(Good):
    """Writes into what it is shown."""

    def factor(self, poll: Poll) -> float:
        """Take the bytes out of the poll."""
        object.__setattr__(poll, "buffered_bytes", 0)
        return 1.0


class ConfusesCandidates(Good):
    """Works its losses out once for each number of candidates."""

    def __init__(self) -> None:
        self._known: dict[int, FloatArray] = {}

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return what it returned for as many candidates before."""
        return self._known.setdefault(times_ms.size, 1.0 / times_ms).copy()


class OneArray(Good):
    """Hands out the same array each time, and writes to it when asked again."""

    def __init__(self) -> None:
        self._losses: FloatArray = np.empty(0)

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the array."""
        if self._losses.size != times_ms.size:
            self._losses = np.empty(times_ms.size)
        np.divide(1.0 + poll.buffered_bytes, times_ms, out=self._losses)
        return self._losses


class AnswersFromWhatItHandedOut(Good):
    """Keeps the array it handed out, and hands it out again."""

    def __init__(self) -> None:
        self._known: dict[bytes, FloatArray] = {}

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return what it returned for these candidates before."""
        return self._known.setdefault(times_ms.tobytes(), 1.0 / times_ms)


class NegativeOnceTold(Good):
    """Falls below zero after some dozes."""

    def __init__(self) -> None:
        self.left = 3.0

    def start(self) -> None:
        """Begin anew."""
        self.left = 3.0

    def observe(self, poll: Poll) -> None:
        """Take one away."""
        self.left -= 1

    def factor(self, poll: Poll) -> float:
        """Return what is left."""
        return self.left if poll.slept_ms > 1e6 or self.left > 0 else 0.0


NAUGHTY = [
    (Locked(), "can-be-copied", "It raised TypeError: cannot pickle '_thread.lock' object"),
    (SharedByCopies(), "copies", "After using a deep copy the loss of candidate 0 is"),
    (ForgetsWhenPickled(), "pickles", "For a pickled copy the loss of candidate 0 is .*; expected"),
    (NeedsAnArgument(1.0), "default-parameters", "It raised TypeError: .*gamma"),
    (Nameless(), "documented", "Its name must be a non-empty class attribute"),
    (
        NegativeWhenFull(),
        "usable-in-a-run",
        "Loss good returned -.*bytes buffered after 100 ms asleep; expected",
    ),
    (
        TwelveOnly(),
        "any-candidates",
        r"It returned shape \(12,\) for 1 candidate times with 0 bytes buffered",
    ),
    (NeedsTimes(), "odd-polls", "It raised ZeroDivisionError"),
    (WritesTimes(), "leaves-arguments", "It modified the candidate times to"),
    (WritesTimesIfItMay(), "leaves-arguments", "It modified the candidate times to"),
    (ChangesThePoll(), "leaves-arguments", "It modified the poll to .*buffered_bytes=0.*; expected"),
    (Counting(), "pure", "In a repeated call the loss of candidate 0 is"),
    (ConfusesCandidates(), "candidates-kept-apart", "For new candidates the loss of candidate 0 is"),
    (
        OneArray(),
        "answers-kept-apart",
        "In a returned array, after another call, the loss of candidate 0 is",
    ),
    (AnswersFromWhatItHandedOut(), "answers-kept-apart", "After the caller wrote to a returned array"),
    (Remembering(), "starts-anew", r"After start\(\) the loss of candidate 0 is"),
    (NegativeOnceTold(), "usable-once-told", "It returned -.* with .* bytes buffered after 1e.08 ms asleep"),
]


def test_a_loss_without_fault_passes() -> None:
    """Also one that is no built-in loss, given as a class or as an object."""
    assert check(Good).ok
    assert check(Good()).ok


@pytest.mark.parametrize(
    ("loss", "name", "fault"), NAUGHTY, ids=[type(loss).__name__ for loss, _, _ in NAUGHTY]
)
def test_a_loss_that_breaks_a_promise_is_found_out(loss: Loss, name: str, fault: str) -> None:
    """By the check that is there for it, with a sentence that says what was found."""
    finding = LOSS_CHECKS.run_one(name, Subject(loss))
    assert re.search(fault, finding.fault), finding
    report = check(loss)
    assert not report.ok
    assert report.not_run or name in {each.check for each in report.findings if not each.ok}


def test_every_check_has_a_culprit() -> None:
    """No check is there that never finds anything."""
    assert {name for _, name, _ in NAUGHTY} == set(LOSS_CHECKS.names())
