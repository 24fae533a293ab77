"""Interface of an online learner of half-spaces, and what is decided about one instance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from psm_sim.array_types import FloatArray
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.serializable import Serializable
from psm_sim.parameter_values import Parameter
from psm_sim.parameters import check_all

_FEATURES = Parameter("features", 1, at_least=1)


class Decision(NamedTuple):
    """Decision about one instance: margin, prediction (-1 or +1), query probability, and the answer."""

    margin: float
    prediction: int
    probability: float
    query: bool


class Classifier(ABC):
    """Whatever gives margins, and predicts by their sign."""

    @abstractmethod
    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return the margin of each row of *X*, shape (n, features); changes nothing."""

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return +1 for each row of *X*, shape (n, features), whose margin is 0 or more, else -1."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


@dataclass(eq=False)
class OnlineLearner(Serializable, Classifier):
    """Linear classifier learnt one bought label at a time; memory does not grow with the stream.

    A subclass is a dataclass with declared parameters, gives a :attr:`name` and supplies :meth:`_learn`;
    :meth:`_begin` sets further attributes, which :attr:`memory` names.

    A zero margin predicts +1. A bought label y counts as a mistake when ``y * margin <= 0``, so that the
    first positive moves a learner that starts at 0.

    Parameters
    ----------
    features : int
        The number of features d, at least 1.

    Attributes
    ----------
    w : ndarray, shape (features,)
        The weight vector; 0 before the first update.
    """

    features: int
    state_attributes: ClassVar[tuple[str, ...]] = ("w",)

    def __post_init__(self) -> None:
        self.features = int(_FEATURES.check(self.features, self.name))
        check_all(self, self.name)
        self.w: FloatArray = np.zeros(self.features)
        self._begin()

    def _begin(self) -> None:
        """Set the attributes of a learner that has seen nothing."""

    def margin(self, x: ArrayLike) -> float:
        """Return the margin r of an instance, shape (features,); changes nothing."""
        return self._view(input_checks.check_instance(x, self.features, self.name)[0])[0]

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return the margin of each row of *X*, shape (n, features); changes nothing."""
        return self._margins(input_checks.check_instances(X, self.features, self.name))

    def learn(self, x: ArrayLike, y: int) -> bool:
        """Learn a label that was bought.

        Parameters
        ----------
        x : array_like, shape (features,)
            The instance.
        y : int
            Its label, -1 or +1.

        Returns
        -------
        bool
            True if the state moved.

        Raises
        ------
        InputError
            If the instance or the label cannot be used; nothing is learnt.
        """
        label = input_checks.check_label(y, self.name)
        return self._learn(input_checks.check_instance(x, self.features, self.name)[0], label)

    def predict_one(self, x: ArrayLike) -> int:
        """Return the prediction for one instance, -1 or +1 (river's name)."""
        return 1 if self.margin(x) >= 0 else -1

    def learn_one(self, x: ArrayLike, y: int) -> OnlineLearner:
        """Learn one bought label and return the learner (river's name); arguments as :meth:`learn`."""
        self.learn(x, y)
        return self

    def _view(self, x: FloatArray) -> tuple[float, float]:
        """Return margin and spread x'A^-1 x of a checked instance; the spread is 0 where there is none."""
        return float(x.dot(self.w)), 0.0

    def _margins(self, X: FloatArray) -> FloatArray:
        """Return the margins of checked rows."""
        return X @ self.w

    @abstractmethod
    def _learn(self, x: FloatArray, y: float) -> bool:
        """Learn a checked instance and label; return whether the state moved."""


def wrong_type_error(value: Any, wanted: type, owner: str) -> str:
    """Return the sentence for *owner* being *value*, which is no instance of *wanted*."""
    return f"{owner} is {value!r}; expected an instance of {wanted.__name__}."
