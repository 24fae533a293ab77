"""First-order learners: Perceptron, modified Perceptron, shifting Perceptron and budget Perceptron."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from psm_lab.active.online_learner import OnlineLearner
from psm_sim.common.array_types import FloatArray
from psm_sim.common.parameters import parameter
from psm_sim.common.random_streams import random_stream


@dataclass(eq=False)
class Perceptron(OnlineLearner):
    """Perceptron, which adds ``eta * y * x`` to w after a mistake. Time and memory O(d).

    It makes at most 1/g^2 mistakes on instances of norm at most 1 that a unit vector separates with margin g.
    On the uniform sphere it needs of the order of 1/eps^2 mistakes to reach error eps, under any query rule.
    If w starts at 0, eta only scales w.

    Source: Rosenblatt (1958); Monteleoni's thesis, sections 3.3 and 3.4.

    Examples
    --------
    >>> learner = Perceptron(features=2)
    >>> learner.learn([0.0, 2.0], -1), learner.learn([0.0, 1.0], -1)
    (True, False)
    >>> learner.w.tolist()
    [0.0, -2.0]
    """

    eta: float = parameter(1.0, "learning rate", above=0)
    start: str = parameter(
        "zero",
        "initial w: zero, or y x of the first label (independent of eta)",
        choices=("zero", "first"),
    )

    name: ClassVar[str] = "perceptron"

    def _begin(self) -> None:
        self.begun = self.start == "zero"

    def _learn(self, x: FloatArray, y: float) -> bool:
        if y * x.dot(self.w) > 0:
            return False
        rate = y * self.eta if self.begun else y
        self.begun = True
        self.w += rate * x
        return True


@dataclass(eq=False)
class ModifiedPerceptron(OnlineLearner):
    """Modified Perceptron: a mistake subtracts ``factor`` times the projection on x. Time and memory O(d).

    The first label sets ``w = y x / |x|``. A factor of 2 reflects w, so its norm stays 1 and its angle to a
    separating target never increases. On the uniform sphere it then needs of the order of d ln(1/eps)
    mistakes to reach error eps (:func:`~psm_lab.active.theorem_bounds.modified_mistakes`). A margin of 0
    causes no update.

    Source: thesis, figure 3-2 and Theorem 4; factor 1 is from Blum, Frieze, Kannan and Vempala (1998).

    Examples
    --------
    >>> learner = ModifiedPerceptron(features=2)
    >>> learner.learn([1.0, 0.0], 1), learner.learn([0.6, 0.8], -1)
    (True, True)
    >>> learner.w.round(2).tolist()
    [0.28, -0.96]
    """

    factor: float = parameter(2.0, "share of the projection subtracted; 2 reflects", above=0, at_most=2)

    name: ClassVar[str] = "modified-perceptron"

    def _begin(self) -> None:
        self.begun = False

    def _learn(self, x: FloatArray, y: float) -> bool:
        if not self.begun:
            return self._initialise(x, y)
        margin = float(x.dot(self.w))
        if y * margin >= 0:
            return False
        self.w -= (self.factor * margin / float(x.dot(x))) * x
        return True

    def _initialise(self, x: FloatArray, y: float) -> bool:
        length = float(np.sqrt(x.dot(x)))
        self.begun = length > 0
        if self.begun:
            self.w = x * (y / length)
        return self.begun


@dataclass(eq=False)
class ShiftingPerceptron(OnlineLearner):
    """Shifting Perceptron: a mistake first shrinks w, so that old mistakes fade. Time and memory O(d).

    Mistake k = 0, 1, ... sets ``w = (1 - l) w + y x`` with ``l = lam / (lam + k)``.

    Source: Cavallanti, Cesa-Bianchi and Gentile, Machine Learning 69 (2007); baseline of Moroshko and
    Crammer.
    """

    lam: float = parameter(0.01, "forgetting rate; 0 would be the Perceptron", above=0)

    name: ClassVar[str] = "shifting-perceptron"

    def _begin(self) -> None:
        self.mistakes = 0

    def _learn(self, x: FloatArray, y: float) -> bool:
        if y * x.dot(self.w) > 0:
            return False
        self.w = self.w * (self.mistakes / (self.lam + self.mistakes)) + y * x
        self.mistakes += 1
        return True


@dataclass(eq=False)
class BudgetPerceptron(OnlineLearner):
    """Randomized budget Perceptron with at most B stored mistakes. Time O(d), memory O(B d).

    Once B mistakes are stored, a new mistake replaces a random one in the sum w.

    Source: Cavallanti, Cesa-Bianchi and Gentile, Machine Learning 69 (2007); baseline of Moroshko and
    Crammer.
    """

    B: int = parameter(500, "maximum number of stored mistakes", at_least=1)
    seed: int = parameter(1, "seed for the choice of the replaced mistake", at_least=0)

    name: ClassVar[str] = "budget-perceptron"

    def _begin(self) -> None:
        self.stored: FloatArray = np.zeros((self.B, self.features))
        self.mistakes = 0
        self.rng = random_stream(self.seed, self.name)

    def _learn(self, x: FloatArray, y: float) -> bool:
        if y * x.dot(self.w) > 0:
            return False
        slot = self.mistakes if self.mistakes < self.B else int(self.rng.integers(self.B))
        self.w += y * x - self.stored[slot]
        self.stored[slot] = y * x
        self.mistakes += 1
        return True
