"""Each policy check finds the policy that was made to break it."""

from __future__ import annotations

import itertools
import math
import random
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from psm_sim.contracts import check
from psm_sim.contracts.policy_run_checks import POLICY_CHECKS, PolicySubject
from psm_sim.policies import Frame, Policy, Poll, Rest
from psm_sim.simulation import Result


class Good(Policy):
    """Hears every beacon."""

    name = "good"

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until the next beacon."""
        return Rest(beacons=self.beacons())

    def beacons(self) -> int:
        """Return how many beacons go by; what the policies below get wrong."""
        return 1


class Counting(Good):
    """Dozes longer from question to question, and never forgets."""

    def __init__(self) -> None:
        self.asked = 0

    def beacons(self) -> int:
        """Count the questions."""
        self.asked += 1
        return self.asked


class SharedByCopies(Good):
    """A deep copy shares what it keeps."""

    def __init__(self) -> None:
        self.kept: list[int] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedByCopies:
        twin = type(self)()
        twin.kept = self.kept
        return twin

    def start(self, beacon_s: float) -> None:
        """Forget what was kept."""
        self.kept.clear()

    def beacons(self) -> int:
        """Count the questions."""
        self.kept.append(1)
        return len(self.kept)


class Unpicklable(Good):
    """Keeps a function that cannot travel."""

    def __init__(self) -> None:
        self.count = lambda: 1


class ForgetsWhenPickled(Good):
    """Comes out of a pickle with a state of its own."""

    def __init__(self, answer: int = 1) -> None:
        self.answer = answer

    def beacons(self) -> int:
        """Return what it was made with."""
        return self.answer

    def __reduce__(self) -> Any:
        return ForgetsWhenPickled, (7,)

    def __deepcopy__(self, memo: dict[int, Any]) -> ForgetsWhenPickled:
        return ForgetsWhenPickled(self.answer)


class NeedsAnArgument(Good):
    """Cannot be made without parameters."""

    def __init__(self, least: int) -> None:
        self.least = least


class Locked(Good):
    """Keeps what cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


class Nameless(Good):
    """Has no name."""

    name = ""


class Undocumented(Good):
    pass


Undocumented.__doc__ = None


class OddConfig(Good):
    """Its config() holds an object."""

    def config(self) -> dict[str, Any]:
        """Return what JSON cannot hold."""
        return {"queue": deque()}


class InfiniteConfig(Good):
    """Its config() holds a number that JSON lacks."""

    def config(self) -> dict[str, Any]:
        """Return an infinity."""
        return {"limit": float("inf")}


class LosesParameters(Good):
    """Does not keep what it was made with."""

    def __init__(self, least: int = 1) -> None:
        self._hidden = least


class OffTheGrid(Good):
    """Fails far in the future."""

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Answer with a time awake that has run below zero."""
        return Rest(awake_s=1e6 - now_s, beacons=1)


class ZeroBeacons(Good):
    """Wakes for no beacon at all."""

    def beacons(self) -> int:
        """Return none."""
        return 0


class FailsWhenInterrupted(Good):
    """Divides by the time slept, which may be nothing."""

    def interrupted(self, poll: Poll) -> None:
        """Divide by zero."""
        self.rate = poll.buffered_bytes / poll.slept_ms


class FailsOfDatagrams(Good):
    """Looks the connection of a frame up in a list."""

    def received(self, now_s: float, frame: Frame) -> None:
        """Find the connection, which a datagram has none of."""
        self.port = [80, 443][frame.flow]


class ChangesThePoll(Good):
    """Writes into what it is shown."""

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Take the bytes out of the poll."""
        if poll is not None:
            object.__setattr__(poll, "buffered_bytes", 0)
        return Rest()


class Unseeded(Good):
    """Draws from the interpreter's generator, which nobody has seeded."""

    def beacons(self) -> int:
        """Roll a die."""
        return random.SystemRandom().randint(1, 6)


class SharedByAll(Good):
    """Keeps a count in its class, where every copy counts on."""

    numbers: ClassVar[Iterator[int]] = itertools.count(1)

    def beacons(self) -> int:
        """Answer with ever more beacons."""
        return next(SharedByAll.numbers) // 20 + 1


class WritesToTheOriginal(Good):
    """Copies know the original, and count there."""

    def __init__(self) -> None:
        self.runs = 0
        self.original: WritesToTheOriginal | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> WritesToTheOriginal:
        twin = WritesToTheOriginal()
        twin.original = self.original or self
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {"runs": self.runs, "original": None}

    def finish(self) -> None:
        """Count the run."""
        if self.original is not None:
            self.original.runs += 1


NAUGHTY = [
    (Locked(), "can-be-copied", "It raised TypeError: cannot pickle '_thread.lock' object"),
    (SharedByCopies(), "copies", "Calls of a deep copy changed the original's rests."),
    (Unpicklable(), "pickles", "It raised .*[Pp]ickl"),
    (ForgetsWhenPickled(), "pickles", "A pickled copy returns Rest.*beacons=7.* for None; expected"),
    (NeedsAnArgument(3), "default-parameters", "It raised TypeError: .*least"),
    (Nameless(), "documented", "Its name must be a non-empty class attribute"),
    (Undocumented(), "documented", "Its class must have a docstring"),
    (OddConfig(), "plain-config", r"config\(\) has queue=deque\(\[\]\); expected a number"),
    (InfiniteConfig(), "plain-config", "It raised ValueError: .*JSON"),
    (LosesParameters(), "keeps-parameters", r"config\(\) has least=None; expected 1, stored as self.least"),
    (Counting(), "starts-anew", r"After start\(\) it returns Rest.* for None; expected Rest.*beacons=1,"),
    (OffTheGrid(), "legal-answers", r"rest\(\) at 1e\+07 s returned awake_s=-9000000.0; expected seconds"),
    (FailsWhenInterrupted(), "hooks", r"failed in interrupted\(\) at 0 s: ZeroDivisionError"),
    (FailsOfDatagrams(), "frames", r"failed in received\(\).*: IndexError"),
    (ChangesThePoll(), "leaves-arguments", "It modified the polls to"),
    (Unseeded(), "same-run-twice", "A second run has (simulated_s|usage)="),
    (SharedByAll(), "every-beacon", "A run with an event at every beacon has simulated_s="),
    (WritesToTheOriginal(), "left-as-it-was", "A run changed the given policy."),
]


class Distorted(PolicySubject):
    """A policy whose runs come out wrong, as if the simulator broke a law."""

    def __init__(self, distort: Callable[[Result], Result]) -> None:
        super().__init__(Good())
        self.distort = distort

    def run_again(self, settings: dict[str, str]) -> Result:
        """Return the run, distorted."""
        return self.distort(super().run_again(settings))


def more_s(result: Result) -> Result:
    """Return the run with a microsecond too much asleep."""
    return replace(result, usage=result.usage._replace(asleep_s=result.usage.asleep_s + 1e-6))


def more_j(result: Result) -> Result:
    """Return the run with a microjoule too much awake."""
    return replace(result, usage=result.usage._replace(awake_j=result.usage.awake_j + 1e-6))


def more_bytes(result: Result) -> Result:
    """Return the run with a byte received that nobody sent."""
    received = result.traffic.client_received_bytes + 1
    return replace(result, traffic=replace(result.traffic, client_received_bytes=received))


def no_last_page(result: Result) -> Result:
    """Return the run without its last page."""
    return replace(result, page_records=result.page_records[:-1])


def no_time(result: Result) -> Result:
    """Return the run with a page that never came."""
    *pages, last = result.page_records
    return replace(result, page_records=(*pages, last._replace(page_time_s=math.inf)))


BROKEN_LAWS = [
    ("finishes", no_last_page, "4 pages were loaded; expected 5"),
    ("finishes", no_time, "The pages took .* inf"),
    ("time-law", more_s, "The times awake and asleep add up to .* s; expected .* s"),
    ("energy-law", more_j, "The energy is .* J; expected .* J"),
    ("byte-law", more_bytes, "bytes were received, undelivered or dropped; expected the .* bytes sent"),
]


def test_a_policy_without_fault_passes() -> None:
    """Also one that is no built-in policy, given as a class or as an object."""
    assert check(Good).ok
    assert check(Good()).ok


@pytest.mark.parametrize(
    ("policy", "name", "fault"), NAUGHTY, ids=[type(policy).__name__ for policy, _, _ in NAUGHTY]
)
def test_a_policy_that_breaks_a_promise_is_found_out(policy: Policy, name: str, fault: str) -> None:
    """By the check that is there for it, with a sentence that says what was found."""
    finding = POLICY_CHECKS.run_one(name, PolicySubject(policy))
    assert re.search(fault, finding.fault), finding
    report = check(policy)
    assert not report.ok
    assert report.not_run or name in {each.check for each in report.findings if not each.ok}


@pytest.mark.parametrize(("name", "distort", "fault"), BROKEN_LAWS)
def test_a_run_that_breaks_a_law_is_found_out(
    name: str, distort: Callable[[Result], Result], fault: str
) -> None:
    """No policy can break these laws; a simulator with a fault could."""
    finding = POLICY_CHECKS.run_one(name, Distorted(distort))
    assert re.search(fault, finding.fault), finding


def test_every_check_has_a_culprit() -> None:
    """No check is there that never finds anything."""
    found = {name for _, name, _ in NAUGHTY} | {name for name, _, _ in BROKEN_LAWS}
    assert found == set(POLICY_CHECKS.names())


def test_what_needs_a_copy_is_not_checked_without() -> None:
    """The report says how many checks were left out."""
    report = check(Locked())
    assert [each.check for each in report.findings] == ["can-be-copied"]
    assert report.summary == "0 of 1 checks passed; 18 more require the last one and were not run."


def test_laws_of_runs_are_not_checked_of_a_policy_that_cannot_run() -> None:
    """What it answers is, and the sentence says what is wrong with it."""
    report = check(ZeroBeacons())
    assert [each.check for each in report.findings if not each.ok] == ["legal-answers", "finishes"]
    assert "returned beacons=0; expected an integer" in report.findings[-1].fault
    assert report.not_run == 6
