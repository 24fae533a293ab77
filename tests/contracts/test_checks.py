"""Each contract check fails for a component that violates it."""

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
from psm_sim.contracts import check, learner_checks, loss_checks, policy_checks
from psm_sim.contracts.learner_checks import (
    LEARNER_CHECKS,
    keeps_a_distribution,
    rejects_invalid_losses,
    returns_the_mixture_loss,
)
from psm_sim.contracts.loss_checks import (
    LOSS_CHECKS,
    returns_a_finite_loss_for_each_candidate,
    returns_the_same_for_the_same_polls,
)
from psm_sim.contracts.policy_checks import (
    POLICY_CHECKS,
    adds_up_time_energy_and_bytes,
    loads_every_page,
    returns_valid_rests,
    run_pages,
    stores_its_parameters,
)
from psm_sim.contracts.report import Check, check_name, run_check
from psm_sim.contracts.shared_checks import behaves_the_same_when_copied
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
    """Policy that counts its runs and returns itself as its copy."""

    runs = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> CountsRuns:
        return self

    def finish(self) -> None:
        """Count a run."""
        self.runs += 1


def empty_the_poll(self: Policy, now_s: float, since_uplink_s: float, poll: Poll | None) -> Rest:
    """Write to the poll, which a policy must not do."""
    if poll is not None:
        object.__setattr__(poll, "buffered_bytes", 0)
    return Rest()


def policy(*arguments: Any, **members: Any) -> Policy:
    """Return a policy that is valid except for *members*, which replace its methods."""
    result: Policy = broken(GoodPolicy, *arguments, **members)
    return result


SHARED = itertools.count(1)
NUMBERS = itertools.count(20)

POLICIES = {
    "can-be-copied": (
        with_attribute(GoodPolicy(), threading.Lock()),
        "It raised TypeError: cannot pickle '_thread.lock' object",
    ),
    "behaves-the-same-when-copied": (
        policy(beacons=lambda self: next(SHARED)),
        "A deep copy returns Rest.*; expected Rest",
    ),
    "has-a-name-and-a-docstring": (policy(name=""), "Its name must be a non-empty class attribute"),
    "is-created-without-arguments": (
        policy(3, __init__=lambda self, least: None),
        "It raised TypeError: .*least",
    ),
    "stores-its-parameters": (
        policy(__init__=lambda self, least=1: None),
        r"config\(\) has least=None; expected 1, stored as self.least",
    ),
    "starts-each-run-anew": (
        policy(beacons=counted()),
        r"After start\(\) it returns Rest.*beacons=5.*; expected Rest.*beacons=1",
    ),
    "returns-valid-rests": (
        policy(rest=lambda self, now_s, since_uplink_s, poll: Rest(awake_s=1e6 - now_s, beacons=1)),
        r"rest\(\) with \(10000000.0, .*it returned awake_s=-9000000.0; expected seconds",
    ),
    "leaves-polls-unchanged": (policy(rest=empty_the_poll), "It modified the polls to"),
    "repeats-a-run-exactly": (
        policy(beacons=lambda self: random.SystemRandom().randint(1, 6)),
        r"A second run has (simulated_s|usage\.\w+)=",
    ),
    "is-unchanged-by-a-run": (CountsRuns(), "A run changed the given policy"),
    "decides-the-same-with-every-beacon": (
        policy(beacons=lambda self: next(NUMBERS) // 20),
        "A run with an event at every beacon has simulated_s=",
    ),
}

FURTHER: list[tuple[Check, Any, str]] = [
    (behaves_the_same_when_copied, with_attribute(GoodPolicy(), lambda: 1), "It raised .*[Pp]ickl"),
    (
        stores_its_parameters,
        policy(config=lambda self: {"queue": deque()}),
        r"has queue=deque\(\[\]\); expected a",
    ),
    (
        returns_valid_rests,
        policy(interrupted=lambda self, poll: poll.buffered_bytes / poll.slept_ms),
        r"failed in interrupted\(\) with .*: ZeroDivisionError",
    ),
    (
        returns_valid_rests,
        policy(received=lambda self, now_s, frame: [80, 443][frame.flow]),
        r"failed in received\(\).*: IndexError",
    ),
]
"""Further violations of the same checks."""


def with_counts(result: Result, **counts: float) -> Result:
    """Return a result with other counts."""
    (block,) = result.blocks
    return Result((replace(block, counts={**block.counts, **counts}),))


def with_pages(result: Result, change: Callable[[Any], Any], *names: str) -> Result:
    """Return a result with changed columns of the pages, all of them by default."""
    (block,) = result.blocks
    changed = {name: change(values) for name, values in block.pages.items() if name in names or not names}
    return Result((replace(block, pages={**block.pages, **changed}),))


# A faulty simulator could violate these laws, but no policy can.
RESULTS: dict[Check, list[tuple[Any, str]]] = {
    loads_every_page: [
        (
            lambda result: with_pages(result, lambda values: values[:-1]),
            "4 pages were loaded; expected 5",
        ),
    ],
    adds_up_time_energy_and_bytes: [
        (
            lambda result: with_counts(result, simulated_s=result["simulated_s"] + 1e-6),
            "The times awake and asleep add up to .*; expected",
        ),
        (
            lambda result: with_pages(result, lambda values: values + 1e-6, "awake_j"),
            "The energies of the states and beacons add up to .*; expected",
        ),
        (
            lambda result: with_counts(result, **{"traffic.client_received_bytes": 0}),
            "The bytes received, undelivered and dropped add up to .*; expected",
        ),
    ],
}


@pytest.mark.parametrize(
    ("check", "distort", "fault"),
    [(check, *violation) for check, violations in RESULTS.items() for violation in violations],
)
def test_each_check_of_simulated_runs_detects_a_violated_law(
    check: Check, distort: Any, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results of a valid policy are changed."""
    monkeypatch.setattr(policy_checks, "run_pages", lambda *arguments: distort(run_pages(*arguments)))
    assert re.search(fault, run_check(check, GoodPolicy()).fault)


# --- losses -----------------------------------------------------------------------------------------------


def loss(*arguments: Any, **members: Any) -> Loss:
    """Return a loss that is valid except for *members*, which replace its methods."""
    result: Loss = broken(GoodLoss, *arguments, **members)
    return result


def observed(self: Any, poll: Poll) -> float:
    """Return a factor that grows with the observed polls."""
    return 1.0 + getattr(self, "calls", 0)


def idle(self: Loss, times_ms: FloatArray) -> FloatArray:
    """Return the losses with the factor 1."""
    return np.asarray(1.0 / times_ms)


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
    "returns-a-finite-loss-for-each-candidate": (
        loss(factor=lambda self, poll: 1e5 - poll.buffered_bytes),
        r"Loss good failed in __call__\(\) with .*: it returned -.*; expected",
    ),
    "behaves-the-same-when-copied": (
        loss(__deepcopy__=lambda self, memo: self, observe=counted(), factor=observed),
        "A .* copy returns .*; expected",
    ),
    "has-a-name-and-a-docstring": (loss(name=""), "Its name must be a non-empty class attribute"),
    "is-created-without-arguments": (
        loss(1.0, __init__=lambda self, gamma: None),
        "It raised TypeError: .*gamma",
    ),
    "returns-the-same-for-the-same-polls": (
        loss(factor=counted()),
        "A repeated call returns .*; expected",
    ),
    "idle-equals-call": (
        loss(idle=idle, factor=lambda self, poll: 2 - (poll.slept_ms > 1e5)),
        r"Loss good failed in idle\(\) .*; expected None, because a call with Poll\(slept_ms=1.0, ",
    ),
    "shares-no-arrays": (loss(__call__=sort_in_place), "It modified the candidate times to"),
    "starts-each-run-anew": (
        loss(observe=counted(), factor=observed),
        r"After start\(\) it returns .*; expected",
    ),
}
FURTHER += [
    (behaves_the_same_when_copied, with_attribute(GoodLoss(), lambda: 1), "It raised .*[Pp]ickl"),
    (
        returns_a_finite_loss_for_each_candidate,
        loss(__call__=lambda self, poll, times_ms: np.ones(12)),
        r"it returned shape \(12,\) for 1 candidate times",
    ),
    (
        returns_a_finite_loss_for_each_candidate,
        loss(factor=lambda self, poll: poll.buffered_bytes and 1 / len(poll.arrivals)),
        "ZeroDivisionError",
    ),
    (
        returns_a_finite_loss_for_each_candidate,
        loss(observe=counted(), factor=lambda self, poll: 5.5 - getattr(self, "calls", 0)),
        "it returned -",
    ),
    (
        returns_the_same_for_the_same_polls,
        loss(__call__=cached_by_size),
        "For new candidates in the same array it returns .*; expected",
    ),
    (
        loss_checks.idle_equals_call,
        loss(idle=idle, observe=counted(), factor=observed),
        "After dozes with frames a call without any returns .*; expected",
    ),
    (
        loss_checks.idle_equals_call,
        loss(
            idle=idle,
            observe=counted(),
            factor=lambda self, poll: observed(self, poll) if poll.buffered_bytes else 1.0,
        ),
        "After dozes without frames it returns .*; expected",
    ),
    (loss_checks.shares_no_arrays, loss(__call__=cached_array), "After a write to a returned array it"),
]


# --- learners ---------------------------------------------------------------------------------------------


class KeepsHistory(GoodLearner):
    """Learner that stores the losses of every round."""

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
    """Return a learner of five experts that is valid except for *members*."""
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


def linear_weights(self: Any, log_likelihoods: FloatArray) -> float:
    """Multiply the weights by likelihoods, which underflow."""
    with np.errstate(all="ignore"):
        self._weights *= np.exp(log_likelihoods - 1.0)
        self._weights /= self._weights.sum()
    return 0.0


LEARNERS = {
    "can-be-copied": (
        with_attribute(GoodLearner(5), threading.Lock()),
        "It raised TypeError: cannot pickle '_thread.lock' object",
    ),
    "behaves-the-same-when-copied": (
        learner(__deepcopy__=lambda self, memo: self),
        "A (deep|pickled) copy returns .*; expected|It raised .*[Pp]ickl",
    ),
    "has-a-name-and-a-docstring": (learner(name=""), "Its name must be a non-empty class attribute"),
    "keeps-a-distribution": (
        learner(weights=property(lambda self: 5 * self._weights)),
        r"After 0 rounds the weights are .*, with the sum .*; expected .* sum to 1",
    ),
    "returns-the-mixture-loss": (
        updating(lambda update, losses: 2 * update(losses)),
        "The mixture loss is .*; expected",
    ),
    "lets-experts-recover": (learner(alpha=0.1), "An expert with an infinite loss in one round has weight 0"),
    "rejects-invalid-losses": (
        updating(accept_any),
        "A round with only infinite losses was accepted; expected an",
    ),
    "predicts-the-weighted-mean": (
        learner(predict=lambda self, values: 1.1 * float(self.weights @ values)),
        r"From the values .* it predicts .*; expected",
    ),
    "shares-no-arrays": (updating(write_losses), "It modified the losses to .*; expected"),
    "keeps-no-history": (KeepsHistory(5), r"Its pickle has \d+ bytes after one round and \d+ bytes after a"),
}
FURTHER += [
    (keeps_a_distribution, learner(learn=linear_weights), "nan"),
    (
        returns_the_mixture_loss,
        updating(lambda update, losses: update(np.log1p(losses))),
        "The mixture loss is .*; expected",
    ),
    (
        returns_the_mixture_loss,
        updating(lambda update, losses: update(np.minimum(losses, 1e4))),
        "With a list of losses that are 1e4 larger, their excess is",
    ),
    (
        returns_the_mixture_loss,
        updating(lambda update, losses: update(np.nan_to_num(losses, posinf=1.0))),
        "With a loss of inf instead of 1e6 the mixture loss is .*; expected",
    ),
    (
        rejects_invalid_losses,
        updating(reject_without_round),
        "A round with only infinite losses raised 'The losses .*'; expected a message with 'round 41'",
    ),
    (
        learner_checks.shares_no_arrays,
        learner(weights=property(lambda self: self._weights)),
        "Writing to the returned weights changed the learner",
    ),
]


# --- tests ------------------------------------------------------------------------------------------------

SUITES: Any = [(POLICY_CHECKS, POLICIES), (LOSS_CHECKS, LOSSES), (LEARNER_CHECKS, LEARNERS)]
CASES = [
    (check, *violations[check_name(check)])
    for checks, violations in SUITES
    for check in checks
    if check not in RESULTS
]


@pytest.mark.parametrize(("check", "component", "fault"), [*CASES, *FURTHER])
def test_each_check_detects_a_violation(check: Check, component: Any, fault: str) -> None:
    """The finding has the actual and the expected behaviour."""
    assert re.search(fault, run_check(check, component).fault)


@pytest.mark.parametrize(
    "component", [GoodPolicy, GoodPolicy(), GoodLoss, GoodLoss(), GoodLearner, GoodLearner(3)]
)
def test_valid_components_pass(component: type[Component] | Component) -> None:
    """Each component is a class and an object."""
    assert check(component).ok


def test_checking_a_learner_with_a_single_expert_is_an_error() -> None:
    """A single expert leaves nothing to learn."""
    with pytest.raises(InputError, match="must have at least 2 experts, got 1"):
        check(StaticExpert(1))


def test_checks_that_require_a_failed_check_are_not_run() -> None:
    """The report states the number of omitted checks."""
    report = check(POLICIES["can-be-copied"][0])
    assert [finding.check for finding in report.findings] == ["can-be-copied"]
    assert (
        report.summary == "0 of 1 checks passed; 12 more require that the last one passes, and were not run."
    )
