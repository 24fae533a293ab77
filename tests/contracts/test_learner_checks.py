"""Each learner check finds the learner that was made to break it."""

from __future__ import annotations

import math
import random
import re
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.contracts import check
from psm_sim.contracts.check_suite import Subject
from psm_sim.contracts.learner_state_checks import LEARNER_CHECKS
from psm_sim.learning import Learner, StaticExpert


class Good(Learner):
    """Bayes' rule in the log domain: each weight falls with the losses suffered."""

    name = "good"

    def __init__(self, n_experts: int) -> None:
        super().__init__(n_experts)
        self._sums: FloatArray = np.zeros(self.n_experts)

    def _learn(self, relative: FloatArray) -> float:
        sums = self._sums + relative
        if sums.max() == -math.inf:
            raise self._none_left()
        before = float(np.logaddexp.reduce(self._sums))
        self._take(sums)
        return before - float(np.logaddexp.reduce(sums))

    def _take(self, sums: FloatArray) -> None:
        self._sums = sums
        weights = np.exp(sums - sums.max())
        self._weights[:] = weights / weights.sum()

    def _dump_state(self) -> dict[str, Any]:
        return {"sums": [None if math.isinf(each) else each for each in self._sums.tolist()]}

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._take(np.array([-math.inf if each is None else each for each in state["sums"]]))


class SharedByCopies(Good):
    """A deep copy shares what was learned."""

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedByCopies:
        twin = type(self)(self.n_experts)
        twin.__dict__.update(self.__dict__)
        return twin


class LearnsOnApart(Good):
    """A deep copy begins anew."""

    def __deepcopy__(self, memo: dict[int, Any]) -> LearnsOnApart:
        return type(self)(self.n_experts)


class ForgetsWhenPickled(Good):
    """Comes out of a pickle as it was at first."""

    def __reduce__(self) -> Any:
        return type(self), (self.n_experts,)

    def __deepcopy__(self, memo: dict[int, Any]) -> ForgetsWhenPickled:
        twin = type(self)(self.n_experts)
        twin._take(self._sums.copy())
        return twin


class Locked(Good):
    """Keeps what cannot be copied."""

    def __init__(self, n_experts: int) -> None:
        super().__init__(n_experts)
        self.lock = threading.Lock()


class Nameless(Good):
    """Has no name."""

    name = ""


class Unnormalised(Good):
    """Its weights sum to the number of experts."""

    def _take(self, sums: FloatArray) -> None:
        super()._take(sums)
        self._weights *= self.n_experts


class LinearDomain(Good):
    """Multiplies its weights by exp(-loss), which becomes 0 for all of them in the end."""

    def _learn(self, relative: FloatArray) -> float:
        with np.errstate(all="ignore"):
            self._weights *= np.exp(relative - 1.0)
            total = float(self._weights.sum())
            self._weights /= total
        return 1.0 - math.log(total) if total > 0 else 1.0

    def _dump_state(self) -> dict[str, Any]:
        return {"weights": self._weights.tolist()}

    def _load_state(self, state: Mapping[str, Any]) -> None:
        self._weights[:] = state["weights"]


class MeanLoss(Good):
    """Returns the mean of the losses instead of the mixture loss."""

    def _learn(self, relative: FloatArray) -> float:
        mean = -float(self._weights @ relative)
        super()._learn(relative)
        return mean


class Unseeded(Good):
    """Draws from a generator that nobody has seeded."""

    def _take(self, sums: FloatArray) -> None:
        super()._take(sums)
        self._weights[:] = self._weights[np.array(random.SystemRandom().sample(range(5), 5))]


class Absolute(Good):
    """Learns from the losses themselves, beyond their differences."""

    def update(self, losses: ArrayLike) -> float:
        """Learn from the logarithm of the losses."""
        return super().update(np.log1p(np.asarray(losses, dtype=np.float64)))


class BlindToInfinity(Good):
    """Takes a loss of inf as if it were a small one."""

    def update(self, losses: ArrayLike) -> float:
        """Replace what is infinite."""
        return super().update(np.nan_to_num(np.asarray(losses, dtype=np.float64), posinf=1.0, nan=math.nan))


class LosesExperts(Good):
    """Says that it switches, but does not."""

    alpha = 0.1


class FindsNobodyAgain(Good):
    """Shares so little that a good expert is not found again in time."""

    alpha = 0.1

    def _take(self, sums: FloatArray) -> None:
        super()._take(np.maximum(sums - sums.max(), -600.0 - 1e5))
        self._weights[:] = np.maximum(self._weights, 1e-300)


class LearnsWhatItRefuses(Good):
    """Counts a round before it looks at the losses."""

    def update(self, losses: ArrayLike) -> float:
        """Count, then learn."""
        self.rounds += 1
        try:
            return super().update(losses)
        finally:
            self.rounds -= 1 if np.all(np.isfinite(np.asarray(losses))) else 0


class RefusesWithoutNumber(Good):
    """Does not say in which round the losses cannot be used."""

    def update(self, losses: ArrayLike) -> float:
        """Learn, or say little."""
        try:
            return super().update(losses)
        except InputError:
            raise InputError("The losses cannot be used; expected others.") from None


class RefusesWithAnother(Good):
    """Fails with an error that is not meant for users."""

    def update(self, losses: ArrayLike) -> float:
        """Learn, or fail."""
        try:
            return super().update(losses)
        except InputError as error:
            raise ZeroDivisionError(str(error)) from None


class TakesAnything(Good):
    """Learns nothing from unusable losses, and does not say so."""

    def update(self, losses: ArrayLike) -> float:
        """Learn, or do nothing."""
        try:
            return super().update(losses)
        except InputError:
            return 0.0


class FollowsTheBest(Good):
    """Predicts ten per cent more than the mean."""

    def predict(self, values: ArrayLike) -> float:
        """Return too much."""
        return 1.1 * super().predict(values)


class SavesTooLittle(Good):
    """Rounds what it saves."""

    def _dump_state(self) -> dict[str, Any]:
        return {"sums": [round(each, 3) for each in self._sums.tolist()]}


class SavesNoRounds(Good):
    """Does not take back how many rounds were learned."""

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Take back all but the rounds."""
        super().load_state(state)
        self.rounds = 0


class LoadsAnything(Good):
    """Takes any state."""

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Take it back without looking."""
        self._load_state(state)
        self.rounds = state["rounds"]


class LoadsBeforeItLooks(Good):
    """Refuses a state of another learner, but takes it over before."""

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Forget what was learned, then look."""
        self._take(np.zeros(self.n_experts))
        super().load_state(state)


class WritesLosses(Good):
    """Works in the array that it was given."""

    def update(self, losses: ArrayLike) -> float:
        """Sort out the losses in place, if they are an array."""
        if isinstance(losses, np.ndarray) and losses.flags.writeable:
            losses += 1
        return super().update(losses)


class ArraysOnly(Good):
    """Takes a list for something else."""

    def update(self, losses: ArrayLike) -> float:
        """Learn from an array, and nothing from a list."""
        return super().update(losses if isinstance(losses, np.ndarray) else np.zeros(self.n_experts))


class WritableOnly(Good):
    """Learns nothing from read-only losses."""

    def update(self, losses: ArrayLike) -> float:
        """Learn from what it may write to."""
        writable = not isinstance(losses, np.ndarray) or losses.flags.writeable
        return super().update(losses if writable else np.zeros(self.n_experts))


class HandsOutItsOwn(Good):
    """Its weights can be written from outside."""

    @property
    def weights(self) -> FloatArray:
        """The array itself."""
        return self._weights


class KeepsHistory(Good):
    """Remembers every round."""

    def __init__(self, n_experts: int) -> None:
        super().__init__(n_experts)
        self.history: list[list[float]] = []

    def _learn(self, relative: FloatArray) -> float:
        self.history.append(relative.tolist())
        return super()._learn(relative)


NAUGHTY = [
    (Locked, "can-be-copied", "It raised TypeError: cannot pickle '_thread.lock' object"),
    (SharedByCopies, "copies", "Training a deep copy changed the original's weights"),
    (LearnsOnApart, "copies", "A deep copy continues differently from the original"),
    (ForgetsWhenPickled, "pickles", "A pickled copy continues differently"),
    (Nameless, "documented", "Its name must be a non-empty class attribute"),
    (Unnormalised, "distribution", r"the weights are .*, with the sum .*; expected .* sum to 1"),
    (MeanLoss, "mixture-loss", "The mixture loss is .*; expected"),
    (Unseeded, "same-losses-same-weights", "have different weights after the same losses"),
    (Absolute, "differences-teach", "With 0.1 added to all losses a round returned .*; expected"),
    (
        BlindToInfinity,
        "infinite-loss",
        "With a loss of inf a round returned .*; expected .* as with a loss of 1e6",
    ),
    (LosesExperts, "no-expert-is-lost", "An expert with an infinite loss in one round has weight 0 after it"),
    (
        FindsNobodyAgain,
        "no-expert-is-lost",
        "Three rounds after expert 4 became the best, expert 0 has the largest weight",
    ),
    (LinearDomain, "huge-losses", "nan"),
    (
        TakesAnything,
        "all-infinite",
        "A round with only infinite losses was accepted; expected an InputError",
    ),
    (RefusesWithAnother, "all-infinite", "raised ZeroDivisionError: .*; expected an InputError"),
    (
        RefusesWithoutNumber,
        "unusable-losses",
        "A loss of nan raised 'The losses .*'; expected a message with 'round 41'",
    ),
    (LearnsWhatItRefuses, "unusable-losses", "was rejected, but changed the learner|with 'round 41'"),
    (FollowsTheBest, "prediction", r"From the values .* it predicts .*; expected"),
    (SavesTooLittle, "saved-state", "After loading the saved state the weights are .*; expected"),
    (SavesNoRounds, "saved-state", "After loading the saved state it has 0 rounds; expected 40"),
    (LoadsAnything, "foreign-state", "A state with {'learner': 'another'} was accepted"),
    (LoadsBeforeItLooks, "foreign-state", "was rejected, but changed the learner"),
    (WritesLosses, "leaves-arguments", "It modified the losses to .*; expected"),
    (WritableOnly, "leaves-arguments", "Read-only losses give another mixture loss"),
    (ArraysOnly, "leaves-arguments", "A list of losses gives another mixture loss than an array"),
    (HandsOutItsOwn, "hands-out-copies", "Writing to the returned weights changed the learner"),
    (
        KeepsHistory,
        "constant-memory",
        r"Its pickle has \d+ bytes after one round and \d+ bytes after a thousand",
    ),
]


def test_a_learner_without_fault_passes() -> None:
    """Also one that is no built-in learner, given as a class or as an object."""
    assert check(Good).ok
    assert check(Good(3)).ok


@pytest.mark.parametrize(("cls", "name", "fault"), NAUGHTY, ids=[cls.__name__ for cls, _, _ in NAUGHTY])
def test_a_learner_that_breaks_a_promise_is_found_out(cls: type[Learner], name: str, fault: str) -> None:
    """By the check that is there for it, with a sentence that says what was found."""
    finding = LEARNER_CHECKS.run_one(name, Subject(cls(5)))
    assert re.search(fault, finding.fault), finding
    report = check(cls)
    assert not report.ok
    assert report.not_run or name in {each.check for each in report.findings if not each.ok}


def test_every_check_has_a_culprit() -> None:
    """No check is there that never finds anything."""
    assert {name for _, name, _ in NAUGHTY} == set(LEARNER_CHECKS.names())


def test_a_learner_of_one_expert_is_not_checked() -> None:
    """With one expert there is nothing to learn, and nothing that could be removed."""
    with pytest.raises(InputError, match="must have at least 2 experts, got 1"):
        check(StaticExpert(1))
