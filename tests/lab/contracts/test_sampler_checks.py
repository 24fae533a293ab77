"""Each check of online learners and query rules finds the component that is made to violate it.

Checks that all kinds of component share are tested in ``tests/contracts``.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from psm_sim.common.array_types import FloatArray
from psm_sim.contracts import check
from psm_sim.lab.active import OnlineLearner, QueryRule
from psm_sim.lab.contracts.online_learner_checks import ONLINE_LEARNER_CHECKS, OnlineLearnerSubject
from psm_sim.lab.contracts.query_rule_checks import QUERY_RULE_CHECKS, QueryRuleSubject
from psm_sim.lab.contracts.sampler_checks import FEATURES

SHARED = {"can-be-copied", "documented", "default-parameters"}


@dataclass(eq=False)
class GoodLearner(OnlineLearner):
    """A Perceptron of a user's own."""

    name: ClassVar[str] = "good"

    def _learn(self, x: FloatArray, y: float) -> bool:
        if y * x.dot(self.w) > 0 or not x.any():
            return False
        self.w += y * x
        return True


@dataclass(eq=False)
class GoodRule(QueryRule):
    """A rule of a user's own: it counts its rounds, and asks less and less."""

    name: ClassVar[str] = "fair"

    def _begin(self) -> None:
        self.asked = 0

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return a number that falls with the rounds."""
        self.asked += 1
        return 10 / (10 + self.asked)


def learner(**members: Any) -> Any:
    """Return a good learner with other *members*."""
    return type("Broken", (GoodLearner,), {"__doc__": "Broken.", **members})(FEATURES)


def rule(**members: Any) -> Any:
    """Return a good rule with other *members*."""
    return type("Broken", (GoodRule,), {"__doc__": "Broken.", **members})()


def burst(self: Any, x: FloatArray, y: float) -> bool:
    """Let a weight grow beyond all numbers."""
    self.w[0] = np.inf
    return True


def learn_at_random(self: Any, x: FloatArray, y: float) -> bool:
    """Move by an amount that no seed decides."""
    self.w += y * x * random.random()  # noqa: S311
    return True


def share_weights(self: Any, memo: dict[int, Any]) -> Any:
    """Return a copy with the same array of weights."""
    twin = type(self)(self.features)
    if self.w.any():
        twin.w = self.w
    return twin


def copy_weights(self: Any, memo: dict[int, Any]) -> Any:
    """Return a copy."""
    twin = type(self)(self.features)
    twin.w = self.w.copy()
    return twin


def write_zeros(self: Any, x: FloatArray, y: float) -> bool:
    """Learn, and set the instance to 0."""
    moved = GoodLearner._learn(self, x, y)
    x[:] = 0.0
    return moved


class KeepsHistory(GoodLearner):
    """Remembers every instance."""

    def _learn(self, x: FloatArray, y: float) -> bool:
        self.history = [*getattr(self, "history", []), x.tolist()]
        return super()._learn(x, y)


def take_first_positive_for_right(self: Any, x: FloatArray, y: float) -> bool:
    """Do not learn a first positive, as a margin of 0 predicts +1."""
    return not (y > 0 and not self.w.any()) and GoodLearner._learn(self, x, y)


def deny_moves(self: Any, x: FloatArray, y: float) -> bool:
    """Learn, and say so the first time only."""
    first = not self.w.any()
    return GoodLearner._learn(self, x, y) and first


def divide_by_zero(self: Any, x: FloatArray, y: float) -> bool:
    """Divide by the length of the instance."""
    if y * x.dot(self.w) > 0:
        return False
    with np.errstate(invalid="ignore"):
        self.w += y * x / np.sqrt(x.dot(x))
    return True


def learn_sign(self: Any, x: Any, y: Any) -> bool:
    """Learn from any label that is a number."""
    return GoodLearner.learn(self, x, 1 if isinstance(y, float) or (y or 0) >= 0 else -1)


def meddle(self: Any, other: OnlineLearner, x: Any) -> float:
    """Change the learner that is asked about."""
    other.w[0] = 0.25
    return 1.0


LEARNERS: list[tuple[str, Any, str]] = [
    ("runs", learner(_learn=burst), "After 60 instances the weights are"),
    ("same-stream-same-run", learner(_learn=learn_at_random), "Two copies differ"),
    ("copies", learner(__deepcopy__=share_weights), "Training a deep copy changed the original"),
    ("copies", learner(__deepcopy__=lambda self, memo: type(self)(FEATURES)), "continues differently"),
    (
        "pickles",
        learner(__deepcopy__=copy_weights, __reduce__=lambda self: (GoodLearner, (FEATURES,))),
        "A pickled copy continues differently",
    ),
    ("leaves-arguments", learner(_learn=write_zeros), "It modified the instances|read-only"),
    ("constant-memory", KeepsHistory(FEATURES), r"Its pickle has \d+ bytes after 100 instances and"),
    (
        "undecided-at-first",
        learner(_margins=lambda self, X: GoodLearner._margins(self, X) + 0.5),
        "Every margin must be 0 before training, got .*0.5",
    ),
    ("first-label", learner(_learn=take_first_positive_for_right), "The first label, 1, did not change"),
    (
        "rows-as-instances",
        learner(_margins=lambda self, X: 2 * GoodLearner._margins(self, X)),
        "Margins of rows differ from those of instances",
    ),
    ("says-whether-it-moved", learner(_learn=deny_moves), "must return True, whether its state changed"),
    ("zeros", learner(_learn=divide_by_zero), "After an instance of zeros the weights are .*nan"),
    ("unusable-labels", learner(learn=learn_sign), "A label of 0 was accepted"),
    ("unusable-instances", learner(learn=lambda self, x, y: False), "An instance with a NaN was accepted"),
]
RULES: list[tuple[str, Any, str]] = [
    (
        "probabilities",
        rule(query_probability=lambda self, x, margin, spread: float(np.abs(x).max())),
        r"The probability must be 0 to 1, got .* for features of 1e\+12",
    ),
    ("asks-only", rule(probability=meddle), "changed the learner"),
    (
        "asks-only",
        rule(probability=lambda self, other, x: float(np.random.random() < 0.5)),  # noqa: NPY002
        "drew a random number",
    ),
    (
        "one-by-one",
        rule(query_probability=lambda self, x, margin, spread: float(x.flags.owndata)),
        "Single calls query other labels than a run",
    ),
    ("unusable-instances", rule(probability=lambda self, other, x: 1.0), "with a NaN was accepted"),
]
CASES = [
    *((ONLINE_LEARNER_CHECKS, name, OnlineLearnerSubject(found), fault) for name, found, fault in LEARNERS),
    *((QUERY_RULE_CHECKS, name, QueryRuleSubject(found), fault) for name, found, fault in RULES),
]


@pytest.mark.parametrize("cls", [GoodLearner, GoodRule])
def test_good_components_pass(cls: type) -> None:
    """Also those that are not built in."""
    assert check(cls).ok, check(cls)


@pytest.mark.parametrize(("suite", "name", "subject", "fault"), CASES, ids=[case[1] for case in CASES])
def test_each_check_finds_a_violation(suite: Any, name: str, subject: Any, fault: str) -> None:
    """The finding describes what was found."""
    finding = suite.run_one(name, subject)
    assert re.search(fault, finding.fault), finding


def test_every_check_is_tested() -> None:
    """A new check needs a component that violates it."""
    tested = {name for _, name, _, _ in CASES} | SHARED
    assert tested == set(ONLINE_LEARNER_CHECKS.names()) | set(QUERY_RULE_CHECKS.names())
