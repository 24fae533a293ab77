"""Interface of online learners of half-spaces, and their decision about an instance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psm_lab.active import input_checks
from psm_sim.common.array_types import FloatArray
from psm_sim.common.parameters import Parameter, check_all

_FEATURES = Parameter("features", 1, at_least=1)


class Decision(NamedTuple):
    """Decision about one instance: margin, prediction (-1 or +1), query probability, and whether to query."""

    margin: float
    prediction: int
    probability: float
    query: bool


@dataclass(eq=False)
class OnlineLearner(ABC):
    """Linear classifier trained one queried label at a time, in constant memory.

    A subclass is a dataclass with declared parameters. It sets a :attr:`name` and implements :meth:`_learn`.
    :meth:`_begin` may set further attributes.

    A margin of 0 predicts +1. A queried label y counts as a mistake if ``y * margin <= 0``, so the first
    positive label changes a learner that starts at 0.

    Parameters
    ----------
    features : int
        Number of features d, at least 1.

    Attributes
    ----------
    w : ndarray, shape (features,)
        Weight vector; 0 before the first update.
    """

    features: int
    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        self.features = int(_FEATURES.check(self.features, self.name))
        check_all(self, self.name)
        self.w: FloatArray = np.zeros(self.features)
        self._begin()

    def _begin(self) -> None:  # noqa: B027 (an optional hook)
        """Set the attributes of an untrained learner."""

    def margin(self, x: ArrayLike) -> float:
        """Return the margin r of an instance, shape (features,), without changing the state."""
        return self._view(input_checks.check_instance(x, self.features, self.name)[0])[0]

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return the margin of each row of *X*, shape (n, features), without changing the state."""
        return self._margins(input_checks.check_instances(X, self.features, self.name))

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return +1 for each row of *X*, shape (n, features), with a margin >= 0, else -1."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def learn(self, x: ArrayLike, y: int) -> bool:
        """Learn a queried label.

        Parameters
        ----------
        x : array_like, shape (features,)
            Instance.
        y : int
            Label, -1 or +1.

        Returns
        -------
        bool
            Whether the state changed.

        Raises
        ------
        InputError
            If the instance or the label is invalid. The learner stays unchanged.
        """
        label = input_checks.check_label(y, self.name)
        return self._learn(input_checks.check_instance(x, self.features, self.name)[0], label)

    def _view(self, x: FloatArray) -> tuple[float, float]:
        """Return the margin and the spread x'A^-1 x of a validated instance.

        The spread of a first-order learner is 0.
        """
        return float(x.dot(self.w)), 0.0

    def _margins(self, X: FloatArray) -> FloatArray:
        """Return the margins of validated rows."""
        return X @ self.w

    @abstractmethod
    def _learn(self, x: FloatArray, y: float) -> bool:
        """Learn a validated instance and label. Return whether the state changed."""


def wrong_type_error(value: Any, expected: type, owner: str) -> str:
    """Return the message for *owner* if *value* is not an instance of *expected*."""
    return f"{owner} must be an instance of {expected.__name__}, got {value!r}."
