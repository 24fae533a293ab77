"""Each contract check finds the component that is made to violate it."""

from __future__ import annotations

import itertools
import random
import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.contracts import check
from psm_sim.contracts.check_suite import Subject
from psm_sim.contracts.learner_checks import LEARNER_CHECKS
from psm_sim.contracts.loss_checks import LOSS_CHECKS
from psm_sim.contracts.policy_checks import POLICY_CHECKS, PolicySubject
from psm_sim.learning import Learner, StaticExpert
from psm_sim.losses import Loss
from psm_sim.policies import Policy, Poll, Rest
from psm_sim.simulation import Result

Component = Policy | Loss | Learner


class GoodPolicy(Policy):
    """Wake for every beacon."""

    name = "good"

    def rest(self, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
        """Doze until the beacon that :meth:`beacons` returns."""
        return Rest(beacons=self.beacons())

    def beacons(self) -> int:
        """Return the number of beacons."""
        return 1


class GoodLoss(Loss):
    """One over the polling time."""

    name = "good"

    def __call__(self, poll: Poll, times_ms: FloatArray) -> FloatArray:
        """Return the loss of each candidate."""
        return np.asarray(self.factor(poll) / times_ms)

    def factor(self, poll: Poll) -> float:
        """Return the factor of all losses."""
        return 1.0


class GoodLearner(StaticExpert):
    """Bayes' rule."""

    name = "good"


def broken(base: type[Any], *arguments: Any, **members: Any) -> Any:
    """Return an instance of a class derived from *base* with other *members*."""
    return type("Broken", (base,), {"__doc__": "Broken.", **members})(*arguments)


def with_attribute(component: Any, value: Any) -> Any:
    """Return the component with an attribute of this value."""
    component.attribute = value
    return component


def counted(start: int = 0) -> Callable[[Any], int]:
    """Return a method that counts its calls in the instance, from *start*."""

    def method(self: Any, *_: Any) -> int:
        self.calls = getattr(self, "calls", start) + 1
        return int(self.calls)

    return method


# --- policies ---------------------------------------------------------------------------------------------


class CountsRuns(GoodPolicy):
    """Its copy is the policy itself, which counts the runs."""

    runs = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> CountsRuns:
        return self

    def finish(self) -> None:
        """Count a run."""
        self.runs += 1


def empty_the_poll(self: Policy, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
    """Write to the poll."""
    if poll is not None:
        object.__setattr__(poll, "buffered_bytes", 0)
    return Rest()


def policy(*arguments: Any, **members: Any) -> Policy:
    """Return a good policy with other members."""
    result: Policy = broken(GoodPolicy, *arguments, **members)
    return result


SHARED: list[int] = []
NUMBERS = itertools.count(20)

POLICIES = {
    "can-be-copied": (
        with_attribute(GoodPolicy(), threading.Lock()),
        "It raised TypeError: cannot pickle '_thread.lock' object",
    ),
    "default-parameters": (policy(3, __init__=lambda self, least: None), "It raised TypeError: .*least"),
    "documented": (policy(name=""), "Its name must be a non-empty class attribute"),
    "copies": (
        policy(beacons=lambda self: SHARED.append(1) or len(SHARED)),
        "Calls of a deep copy changed the original's rests",
    ),
    "pickles": (with_attribute(GoodPolicy(), lambda: 1), "It raised .*[Pp]ickl"),
    "plain-config": (policy(config=lambda self: {"queue": deque()}), r"has queue=deque\(\[\]\); expected a"),
    "keeps-parameters": (
        policy(__init__=lambda self, least=1: None),
        r"config\(\) has least=None; expected 1, stored as self.least",
    ),
    "starts-anew": (policy(beacons=counted()), r"After start\(\) it returns Rest.* for None; expected Rest"),
    "legal-answers": (
        policy(rest=lambda self, now_s, since_uplink_s, poll: Rest(awake_s=1e6 - now_s, beacons=1)),
        r"rest\(\) at 1e\+07 s returned awake_s=-9000000.0; expected seconds",
    ),
    "hooks": (
        policy(interrupted=lambda self, poll: poll.buffered_bytes / poll.slept_ms),
        r"failed in interrupted\(\) at 0 s: ZeroDivisionError",
    ),
    "frames": (
        policy(received=lambda self, now_s, frame: [80, 443][frame.flow]),
        r"failed in received\(\).*: IndexError",
    ),
    "leaves-arguments": (policy(rest=empty_the_poll), "It modified the polls to"),
    "same-run-twice": (
        policy(beacons=lambda self: random.SystemRandom().randint(1, 6)),
        "A second run has (simulated_s|usage)=",
    ),
    "every-beacon": (
        policy(beacons=lambda self: next(NUMBERS) // 20),
        "A run with an event at every beacon has simulated_s=",
    ),
    "left-as-it-was": (CountsRuns(), "A run changed the given policy"),
}

# No policy can violate these laws, but a faulty simulator could.
RESULTS = {
    "finishes": (
        lambda result: replace(result, page_records=result.page_records[:-1]),
        "4 pages were loaded; expected 5",
    ),
    "time-law": (
        lambda result: replace(result, usage=result.usage._replace(asleep_s=result.usage.asleep_s + 1e-6)),
        "The times awake and asleep add up to .* s; expected .* s",
    ),
    "energy-law": (
        lambda result: replace(result, usage=result.usage._replace(awake_j=result.usage.awake_j + 1e-6)),
        "The energy is .* J; expected .* J",
    ),
    "byte-law": (
        lambda result: replace(result, traffic=replace(result.traffic, client_received_bytes=0)),
        "bytes were received, undelivered or dropped; expected the .* bytes sent",
    ),
}


class DistortedRuns(PolicySubject):
    """Good policy whose runs are distorted."""

    def __init__(self, distort: Callable[[Result], Result]) -> None:
        super().__init__(GoodPolicy())
        self.distort = distort

    def run_again(self, settings: dict[str, str]) -> Result:
        """Return the distorted run."""
        return self.distort(super().run_again(settings))


# --- losses -----------------------------------------------------------------------------------------------


def loss(*arguments: Any, **members: Any) -> Loss:
    """Return a good loss with other members."""
    result: Loss = broken(GoodLoss, *arguments, **members)
    return result


def observed(self: Any, poll: Poll) -> float:
    """Return a factor that grows with the observed polls."""
    return 1.0 + getattr(self, "calls", 0)


def sort_in_place(self: Loss, poll: Poll, times_ms: FloatArray) -> FloatArray:
    """Write to the candidate times."""
    times_ms[0] = 1.0
    return np.asarray(1.0 / times_ms)


def cached_by_size(self: Any, poll: Poll, times_ms: FloatArray) -> FloatArray:
    """Return the losses of the first candidates of this number."""
    self.cache = getattr(self, "cache", {})
    return np.array(self.cache.setdefault(times_ms.size, 1.0 / times_ms))


def cached_array(self: Any, poll: Poll, times_ms: FloatArray) -> FloatArray:
    """Return the same array for the same candidates."""
    self.cache = getattr(self, "cache", {})
    return np.asarray(self.cache.setdefault(times_ms.tobytes(), 1.0 / times_ms))


LOSSES = {
    "can-be-copied": (
        with_attribute(GoodLoss(), threading.Lock()),
        "It raised TypeError: cannot pickle '_thread.lock' object",
    ),
    "default-parameters": (loss(1.0, __init__=lambda self, gamma: None), "It raised TypeError: .*gamma"),
    "documented": (loss(name=""), "Its name must be a non-empty class attribute"),
    "usable-in-a-run": (
        loss(factor=lambda self, poll: 1e5 - poll.buffered_bytes),
        "Loss good returned -.*bytes buffered after 100 ms asleep; expected",
    ),
    "copies": (
        loss(__deepcopy__=lambda self, memo: self, observe=counted(), factor=observed),
        "After using a deep copy the loss of candidate 0 is",
    ),
    "pickles": (with_attribute(GoodLoss(), lambda: 1), "It raised .*[Pp]ickl"),
    "any-candidates": (
        loss(__call__=lambda self, poll, times_ms: np.ones(12)),
        r"It returned shape \(12,\) for 1 candidate times with 0 bytes buffered",
    ),
    "odd-polls": (
        loss(factor=lambda self, poll: poll.buffered_bytes and 1 / len(poll.arrivals)),
        "It raised ZeroDivisionError",
    ),
    "leaves-arguments": (loss(__call__=sort_in_place), "It modified the candidate times to"),
    "pure": (loss(factor=counted()), "In a repeated call the loss of candidate 0 is"),
    "candidates-kept-apart": (loss(__call__=cached_by_size), "For new candidates the loss of candidate 0 is"),
    "answers-kept-apart": (loss(__call__=cached_array), "After the caller wrote to a returned array"),
    "starts-anew": (
        loss(observe=counted(), factor=observed),
        r"After start\(\) the loss of candidate 0 is",
    ),
    "usable-once-told": (
        loss(observe=counted(), factor=lambda self, poll: 3.0 - getattr(self, "calls", 0)),
        "It returned -.* with .* bytes buffered after .* ms asleep",
    ),
}


# --- learners ---------------------------------------------------------------------------------------------


class KeepsHistory(GoodLearner):
    """Stores the losses of every round."""

    def __init__(self, n_experts: int) -> None:
        super().__init__(n_experts)
        self.history: list[Any] = []

    def update(self, losses: ArrayLike) -> float:
        """Store the losses and learn."""
        self.history.append(np.array(losses))
        return super().update(losses)


def updating(function: Callable[[Any, Any], Any]) -> Learner:
    """Return a learner whose ``update(losses)`` is *function* of the original update and the losses."""
    return learner(update=lambda self, losses: function(super(type(self), self).update, losses))


def learner(**members: Any) -> Learner:
    """Return a good learner of five experts with other members."""
    result: Learner = broken(GoodLearner, 5, **members)
    return result


def accept_any(update: Callable[[Any], float], losses: Any) -> float:
    """Learn nothing from losses that should be rejected."""
    try:
        return update(losses)
    except InputError:
        return 0.0


def reject_without_round(update: Callable[[Any], float], losses: Any) -> float:
    """Reject losses without the number of the round."""
    try:
        return update(losses)
    except InputError:
        raise InputError("The losses cannot be used.") from None


def write_losses(update: Callable[[Any], float], losses: Any) -> float:
    """Learn, and write to the losses."""
    loss = update(losses)
    losses += 1
    return loss


def linear_weights(self: Any, relative: FloatArray) -> float:
    """Multiply the weights by likelihoods, which underflow."""
    with np.errstate(all="ignore"):
        self._weights *= np.exp(relative - 1.0)
        self._weights /= self._weights.sum()
    return 0.0


LEARNERS = {
    "can-be-copied": (
        with_attribute(GoodLearner(5), threading.Lock()),
        "It raised TypeError: cannot pickle '_thread.lock' object",
    ),
    "documented": (learner(name=""), "Its name must be a non-empty class attribute"),
    "copies": (
        learner(__deepcopy__=lambda self, memo: self),
        "Training a deep copy changed the original's weights",
    ),
    "pickles": (
        learner(
            __deepcopy__=lambda self, memo: self,
            __reduce__=lambda self: (GoodLearner, (self.n_experts,)),
        ),
        "A pickled copy continues differently",
    ),
    "distribution": (
        learner(weights=property(lambda self: 5 * self._weights)),
        r"the weights are .*, with the sum .*; expected .* sum to 1",
    ),
    "mixture-loss": (updating(lambda update, losses: 2 * update(losses)), "The mixture loss is .*; expected"),
    "same-losses-same-weights": (
        updating(lambda update, losses: update(losses) + next(NUMBERS)),
        "have different weights after the same losses",
    ),
    "differences-teach": (
        updating(lambda update, losses: update(np.log1p(losses))),
        "With 0.1 added to all losses a round returned .*; expected",
    ),
    "infinite-loss": (
        updating(lambda update, losses: update(np.nan_to_num(losses, posinf=1.0))),
        "With a loss of inf a round returned .*; expected .* as with a loss of 1e6",
    ),
    "no-expert-is-lost": (learner(alpha=0.1), "An expert with an infinite loss in one round has weight 0"),
    "huge-losses": (learner(_learn=linear_weights), "nan"),
    "all-infinite": (updating(accept_any), "A round with only infinite losses was accepted; expected an"),
    "unusable-losses": (
        updating(reject_without_round),
        "A loss of nan raised 'The losses .*'; expected a message with 'round 41'",
    ),
    "prediction": (
        learner(predict=lambda self, values: 1.1 * float(self.weights @ values)),
        r"From the values .* it predicts .*; expected",
    ),
    "leaves-arguments": (updating(write_losses), "It modified the losses to .*; expected"),
    "hands-out-copies": (
        learner(weights=property(lambda self: self._weights)),
        "Writing to the returned weights changed the learner",
    ),
    "constant-memory": (KeepsHistory(5), r"Its pickle has \d+ bytes after one round and \d+ bytes after a"),
}


# --- tests ------------------------------------------------------------------------------------------------

CASES = [
    *((POLICY_CHECKS, name, PolicySubject(found), fault) for name, (found, fault) in POLICIES.items()),
    *((POLICY_CHECKS, name, DistortedRuns(distort), fault) for name, (distort, fault) in RESULTS.items()),
    *((LOSS_CHECKS, name, Subject(found), fault) for name, (found, fault) in LOSSES.items()),
    *((LEARNER_CHECKS, name, Subject(found), fault) for name, (found, fault) in LEARNERS.items()),
]


@pytest.mark.parametrize(
    ("suite", "name", "subject", "fault"), CASES, ids=[f"{suite.kind}:{name}" for suite, name, _, _ in CASES]
)
def test_each_check_finds_a_violation(suite: Any, name: str, subject: Any, fault: str) -> None:
    """The finding describes what was found and what was expected."""
    assert re.search(fault, suite.run_one(name, subject).fault)


@pytest.mark.parametrize("suite", [POLICY_CHECKS, LOSS_CHECKS, LEARNER_CHECKS], ids=lambda suite: suite.kind)
def test_every_check_is_tested(suite: Any) -> None:
    """A new check needs a component that violates it."""
    assert {name for tested, name, _, _ in CASES if tested is suite} == set(suite.names())


@pytest.mark.parametrize(
    "component", [GoodPolicy, GoodPolicy(), GoodLoss, GoodLoss(), GoodLearner, GoodLearner(3)]
)
def test_good_components_pass(component: type[Component] | Component) -> None:
    """A class is checked as well as an object."""
    assert check(component).ok


def test_a_learner_needs_two_experts() -> None:
    """With one expert there is nothing to learn."""
    with pytest.raises(InputError, match="must have at least 2 experts, got 1"):
        check(StaticExpert(1))


def test_checks_after_a_failed_gate_are_not_run() -> None:
    """The report states their number."""
    report = check(POLICIES["can-be-copied"][0])
    assert [finding.check for finding in report.findings] == ["can-be-copied"]
    assert report.summary == "0 of 1 checks passed; 18 more require the last one and were not run."
    zero_beacons = check(policy(beacons=lambda self: 0))
    assert {"legal-answers", "finishes"} <= {each.check for each in zero_beacons.findings if not each.ok}
    assert zero_beacons.not_run == 6
