"""Each check of online learners and query rules finds the one that was made to break it."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from psm_sim.common.array_types import FloatArray
from psm_sim.contracts import check
from psm_sim.lab.active import OnlineLearner, QueryRule
from psm_sim.lab.contracts.online_learner_checks import ONLINE_LEARNER_CHECKS, OnlineLearnerSubject
from psm_sim.lab.contracts.query_rule_checks import QUERY_RULE_CHECKS, QueryRuleSubject
from psm_sim.lab.contracts.sampler_checks import FEATURES

SUITES: Any = {
    OnlineLearner: (ONLINE_LEARNER_CHECKS, OnlineLearnerSubject, {"features": FEATURES}),
    QueryRule: (QUERY_RULE_CHECKS, QueryRuleSubject, {}),
}


@dataclass(eq=False)
class Good(OnlineLearner):
    """A Perceptron of a user's own."""

    name: ClassVar[str] = "good"

    def _learn(self, x: FloatArray, y: float) -> bool:
        if y * x.dot(self.w) > 0 or not x.any():
            return False
        self.w += y * x
        return True


@dataclass(eq=False)
class Fair(QueryRule):
    """A rule of a user's own: it counts its rounds, and asks less and less."""

    name: ClassVar[str] = "fair"
    state_attributes: ClassVar[tuple[str, ...]] = ("asked",)

    def _begin(self) -> None:
        self.asked = 0

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return a number that falls with the rounds."""
        self.asked += 1
        return 10 / (10 + self.asked)


class Locked(Good):
    """Keeps what cannot be copied."""

    def _begin(self) -> None:
        self.lock = threading.Lock()


class Nameless(Good):
    """Has no name."""

    name = ""


class Bursts(Good):
    """A weight grows beyond all numbers."""

    def _learn(self, x: FloatArray, y: float) -> bool:
        self.w[0] = np.inf
        return True


class Unseeded(Good):
    """Draws from a source that no seed rules."""

    def _learn(self, x: FloatArray, y: float) -> bool:
        self.w += y * x * random.random()  # noqa: S311
        return True


class SharedByCopies(Good):
    """A deep copy shares the weights."""

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedByCopies:
        twin = type(self)(self.features)
        if self.w.any():
            twin.w = self.w
        return twin


class BeginsAnew(Good):
    """A deep copy has learned nothing."""

    def __deepcopy__(self, memo: dict[int, Any]) -> BeginsAnew:
        return type(self)(self.features)


class ForgetsWhenPickled(Good):
    """Comes out of a pickle as it was at first."""

    def __reduce__(self) -> Any:
        return type(self), (self.features,)

    def __deepcopy__(self, memo: dict[int, Any]) -> ForgetsWhenPickled:
        twin = type(self)(self.features)
        twin.w = self.w.copy()
        return twin


class SavesTooLittle(Fair):
    """Does not save its count."""

    state_attributes = ()


class LoadsAnything(Good):
    """Takes any state for its own."""

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Take the weights, if there are some that fit."""
        if isinstance(state.get("w"), list):
            self.w = np.array(state["w"])


class LoadsBeforeItLooks(Good):
    """Refuses a state, and has forgotten its own."""

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Forget, then look."""
        self.w = np.zeros(self.features)
        super().load_state(state)


class LearnsWhatItRefuses(Good):
    """Counts an instance before it is looked at."""

    state_attributes = ("w", "seen")

    def _begin(self) -> None:
        self.seen = 0

    def _view(self, x: FloatArray) -> tuple[float, float]:
        self.seen += 1
        return super()._view(x)

    def learn(self, x: ArrayLike, y: int) -> bool:
        """Count, then learn."""
        self.seen += 1
        return super().learn(x, y)


class WritesInstances(Good):
    """Sets the instances it is given to 0."""

    def _learn(self, x: FloatArray, y: float) -> bool:
        moved = super()._learn(x, y)
        x[:] = 0.0
        return moved


class KeepsHistory(Good):
    """Remembers every instance."""

    def _begin(self) -> None:
        self.history: list[list[float]] = []

    def _learn(self, x: FloatArray, y: float) -> bool:
        self.history.append(x.tolist())
        return super()._learn(x, y)


class Decided(Good):
    """Has an opinion before it learned anything."""

    def _margins(self, X: FloatArray) -> FloatArray:
        return super()._margins(X) + 0.5


class TiesToMinus(Good):
    """Predicts -1 at a margin of 0."""

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return +1 above 0 alone."""
        return np.where(self.decision_function(X) > 0, 1, -1)


class DeafToPositives(Good):
    """Takes a first positive for right already, as a margin of 0 predicts +1."""

    def _learn(self, x: FloatArray, y: float) -> bool:
        return not (y > 0 and not self.w.any()) and super()._learn(x, y)


class RowsApart(Good):
    """Margins of rows are not those of instances."""

    def _margins(self, X: FloatArray) -> FloatArray:
        return 2 * super()._margins(X)


class SaysNothing(Good):
    """Says that it never moves."""

    def _learn(self, x: FloatArray, y: float) -> bool:
        first = not self.w.any()
        return super()._learn(x, y) and first


class DividesByZero(Good):
    """Divides by the length of an instance."""

    def _learn(self, x: FloatArray, y: float) -> bool:
        if y * x.dot(self.w) > 0:
            return False
        with np.errstate(invalid="ignore"):
            self.w += y * x / np.sqrt(x.dot(x))
        return True


class AnyInstance(Good):
    """Learns whatever it is given."""

    def learn(self, x: ArrayLike, y: Any) -> bool:
        """Learn nothing, and say so."""
        return False


class AnyLabel(Good):
    """Learns from any label that is a number."""

    def learn(self, x: ArrayLike, y: Any) -> bool:
        """Learn the sign."""
        return super().learn(x, 1 if isinstance(y, float) or (y or 0) >= 0 else -1)


@dataclass(eq=False)
class NeedsAnAge(Fair):
    """Cannot be made without a parameter."""

    age: int

    def __reduce__(self) -> Any:
        return type(self), (self.age,)


class Sure(Fair):
    """More than certain of an instance that is large."""

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return a length."""
        return float(np.abs(x).max()) if np.abs(x).max() > 100 else 0.5


class Meddles(Fair):
    """Changes the learner that it is asked about."""

    def probability(self, learner: OnlineLearner, x: ArrayLike) -> float:
        """Return 1, and forget a weight."""
        learner.w[0] = 0.25
        return 1.0


class DrawsItself(Fair):
    """Draws from numpy's own generator."""

    def probability(self, learner: OnlineLearner, x: ArrayLike) -> float:
        """Return 0 or 1."""
        return float(np.random.random() < 0.5)  # noqa: NPY002


class ToldApart(Fair):
    """Asks for the label of every array that it may write to, and for few others."""

    def query_probability(self, x: FloatArray, margin: float, spread: float) -> float:
        """Return 1 for an array that owns its numbers."""
        return float(x.flags.owndata)


class TakesAnything(Fair):
    """Answers for an instance that is none."""

    def probability(self, learner: OnlineLearner, x: ArrayLike) -> float:
        """Return 1."""
        return 1.0


NAUGHTY = [
    (Locked, "can-be-copied", "It raised TypeError: cannot pickle '_thread.lock' object"),
    (Nameless, "documented", "Its name must be a non-empty class attribute"),
    (Bursts, "runs", "After 60 instances the weights are"),
    (Unseeded, "same-stream-same-run", "Two copies differ"),
    (SharedByCopies, "copies", "Training a deep copy changed the original"),
    (BeginsAnew, "copies", "A deep copy continues differently"),
    (ForgetsWhenPickled, "pickles", "A pickled copy continues differently"),
    (SavesTooLittle, "saved-state", "After loading the saved state it continues differently"),
    (LoadsAnything, "foreign-state", "A state with name 'another' was accepted"),
    (
        LoadsBeforeItLooks,
        "foreign-state",
        "A state with name 'another' was rejected, but changed the component",
    ),
    (LearnsWhatItRefuses, "unusable-labels", "A rejected label changed the state"),
    (WritesInstances, "leaves-arguments", "It modified the instances|read-only"),
    (
        KeepsHistory,
        "constant-memory",
        r"Its pickle has \d+ bytes after 100 instances and \d+ bytes after 1000",
    ),
    (Decided, "undecided-at-first", "Every margin must be 0 before training, got .*0.5"),
    (TiesToMinus, "undecided-at-first", "The prediction at margin 0 must be"),
    (DeafToPositives, "first-label", "The first label, 1, did not change the learner"),
    (RowsApart, "rows-as-instances", "Margins of rows differ from those of instances"),
    (LearnsWhatItRefuses, "rows-as-instances", "Computing margins and predictions changed"),
    (SaysNothing, "says-whether-it-moved", "must return True, whether its state changed, got False"),
    (DividesByZero, "zeros", "After an instance of zeros the weights are .*nan"),
    (AnyInstance, "unusable-instances", "An instance with a NaN was accepted"),
    (AnyLabel, "unusable-labels", "A label of 0 was accepted"),
    (Sure, "probabilities", r"The probability must be 0 to 1, got .* for features of 1e\+12"),
    (Meddles, "asks-only", "changed the learner"),
    (DrawsItself, "asks-only", "drew a random number"),
    (ToldApart, "one-by-one", "Single calls query other labels than a run"),
    (TakesAnything, "unusable-instances", "An instance with a NaN was accepted"),
]


@pytest.mark.parametrize("cls", [Good, Fair])
def test_one_without_fault_passes(cls: type) -> None:
    """Also one that is not built in."""
    assert check(cls).ok, check(cls)


@pytest.mark.parametrize(
    ("cls", "name", "fault"), NAUGHTY, ids=[f"{cls.__name__}-{name}" for cls, name, _ in NAUGHTY]
)
def test_one_that_breaks_a_promise_is_found_out(cls: type, name: str, fault: str) -> None:
    """By the check that is there for it, with a sentence that says what was found."""
    ((suite, subject, given),) = (found for base, found in SUITES.items() if issubclass(cls, base))
    finding = suite.run_one(name, subject(cls(**given)))
    assert re.search(fault, finding.fault), finding
    assert not check(cls).ok


def test_a_rule_that_cannot_be_made_alone_is_found_out() -> None:
    """The check of default parameters."""
    finding = QUERY_RULE_CHECKS.run_one("default-parameters", QueryRuleSubject(NeedsAnAge(3)))
    assert "age" in finding.fault
    assert deepcopy(NeedsAnAge(3)).age == 3


def test_every_check_has_a_culprit() -> None:
    """No check is there that never finds anything."""
    found = {name for _, name, _ in NAUGHTY} | {"default-parameters"}
    assert found >= set(ONLINE_LEARNER_CHECKS.names()) | set(QUERY_RULE_CHECKS.names())
