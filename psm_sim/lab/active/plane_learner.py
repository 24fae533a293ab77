"""Learner of a separating plane that chooses instances anywhere in space ([003] 5.2.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.parameters import Parameter
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.ask_tell import AskTellLearner
from psm_sim.lab.active.gaussian_instances import Gaussian
from psm_sim.lab.active.linear_separator import Plane, fit_linear
from psm_sim.lab.active.newton_solver import LOSSES
from psm_sim.lab.active.samplers import SAMPLERS, Draw, Sampler

_PARAMETERS = (
    Parameter("C", 1.0, above=0),
    Parameter("loss", "squared-hinge", choices=tuple(LOSSES)),
    Parameter("first", 4, at_least=1),
)


class PlaneLearner(AskTellLearner[FloatArray, int]):
    """Learner that queries the label of one instance at a time and refits its plane.

    The first instances are sampled from the population, and all others by the sampler.

    Parameters
    ----------
    sampler : Sampler or str
        Sampler of the instances, or its name: ``random``, ``bi``, ``mi``, ``isalg:eta=0.2,...`` or ``iwal2``.
    population : Gaussian
        Distribution p of the instances for which the error counts; :meth:`Gaussian.of` estimates it.
    C : float
        Weight of the loss, above 0.
    loss : str
        ``"squared-hinge"`` or ``"logistic"``.
    first : int
        Number of instances sampled from the population before the sampler is used.
    seed, replication : int
        Seed and replication of the random stream.

    Attributes
    ----------
    x : ndarray, shape (n, d)
        Labelled instances; ``y`` and ``weights``, of shape (n,), are their labels and weights.
    seen : int
        Number of inspected instances; above n if the sampler rejects some.
    plane : Plane
        Current separator.
    """

    name = "plane-learner"
    settings = ("C", "loss", "first")
    state_attributes = ("seen", "sampler")

    def __init__(
        self,
        sampler: Sampler | str,
        population: Gaussian,
        C: float = 1.0,
        loss: str = "squared-hinge",
        first: int = 4,
        seed: int = 1,
        replication: int = 0,
    ) -> None:
        super().__init__(seed, replication)
        for parameter, value in zip(_PARAMETERS, (C, loss, first), strict=True):
            parameter.check(value, self.name)
        self.sampler: Sampler = SAMPLERS.create(sampler) if isinstance(sampler, str) else copy(sampler)
        self.population, self.C, self.loss, self.first = population, C, loss, first
        self._draw = Draw(population.mean)
        self.x: FloatArray = np.empty((0, population.features))
        self.y: IntArray = np.empty(0, dtype=np.intp)
        self.weights: FloatArray = np.empty(0)
        self.plane, self.seen = Plane(np.zeros(population.features)), 0

    def _next(self) -> FloatArray:
        is_first = self.n_queries < self.first
        self._draw = (
            Draw(self.population.draw(self._rng)[0]) if is_first else self.sampler.draw(self, self._rng)
        )
        return self._draw.x.copy()

    def _learn(self, asked: FloatArray, answer: int) -> None:
        self.x, self.y = np.vstack([self.x, self._draw.x]), np.append(self.y, answer)
        self.weights, self.seen = np.append(self.weights, self._draw.weight), self.seen + self._draw.seen
        self.plane = fit_linear(self.x, self.y, self.weights, self.C, self.loss, start=self.plane)

    def run(self, oracle: Callable[[FloatArray], int], labels: int) -> Plane:
        """Query ``oracle(x)`` until there are *labels* labels, and return the plane."""
        self.query(oracle, labels)
        return self.plane

    def predict(self, x: ArrayLike) -> IntArray:
        """Return 1 or -1 for instances of shape (n, d)."""
        return self.plane.predict(x)

    def decision_function(self, x: ArrayLike) -> FloatArray:
        """Return v.x + t for instances of shape (n, d)."""
        return self.plane.decision_function(x)

    def _dump_state(self) -> dict[str, Any]:
        labelled = {"x": self.x.tolist(), "y": self.y.tolist(), "weights": self.weights.tolist()}
        return {**super()._dump_state(), **labelled, "plane": self.plane.parameters}

    def _load_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        d, n = self.population.features, int(state["bought"])
        x = input_checks.check_instances(state["x"], d, self.name) if n else np.empty((0, d))
        y = input_checks.check_labels(np.array(state["y"], dtype=np.intp), n, self.name)
        weights = input_checks.check_weights(state["weights"], n, self.name) if n else np.empty(0)
        attributes = {"x": x, "y": y, "weights": weights, "plane": Plane.of(state["plane"])}
        return {**super()._load_state(state), **attributes}
