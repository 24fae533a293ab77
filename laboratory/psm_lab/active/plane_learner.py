"""Learner that queries instances anywhere in space to find a plane, and its samplers ([003] 5.2.3, 5.4)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_lab.active.ask_tell import AskTellLearner
from psm_lab.active.gaussian_instances import Gaussian
from psm_lab.active.linear_separator import Plane, fit_linear
from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.parameters import check_all, parameter
from psm_sim.common.registry import Registry

_TRIES = 500  # stated in the description of MI


class Draw(NamedTuple):
    """Instance to label, shape (d,), its importance weight, and the number of instances inspected for it."""

    x: FloatArray
    weight: float = 1.0
    seen: int = 1


class Sampler(ABC):
    """Base class of samplers, used by a :class:`PlaneLearner` after its first instances."""

    name = "sampler"

    def __post_init__(self) -> None:
        check_all(self, self.name)

    @abstractmethod
    def draw(self, learner: PlaneLearner, rng: np.random.Generator) -> Draw:
        """Return the next instance, given the plane, population and labels of *learner*."""


@dataclass
class RandomSampler(Sampler):
    """Passive sampling from the population."""

    name = "random"

    def draw(self, learner: PlaneLearner, rng: np.random.Generator) -> Draw:
        """Return an instance of the population."""
        return Draw(learner.population.draw(rng)[0])


@dataclass
class BoundarySampler(Sampler):
    """BI: an instance of the population, projected onto the current plane."""

    name = "bi"

    def draw(self, learner: PlaneLearner, rng: np.random.Generator) -> Draw:
        """Return an instance on the plane."""
        return Draw(learner.plane.project(learner.population.draw(rng))[0])


@dataclass
class MarginSampler(Sampler):
    """MI: the first of 500 instances of the population inside the margin, else the nearest to the plane."""

    name = "mi"

    def draw(self, learner: PlaneLearner, rng: np.random.Generator) -> Draw:
        """Return an instance inside the margin."""
        points = learner.population.draw(rng, _TRIES)
        heights = np.abs(learner.plane.decision_function(points))
        inside = np.flatnonzero(heights < 1)
        return Draw(points[inside[0] if inside.size else heights.argmin()])


@dataclass
class GaussianSampler(Sampler):
    """ISALg: a Gaussian around a random point of the plane, as wide as the half margin, with weight p/q.

    By default (``marginal``) q is the density of the instance after integrating out the centre. With
    ``literal`` (the definition of [003]) q is the density around the sampled centre. The weights of
    ``literal`` scale with (half margin)^d, so the first instances dominate the fit.
    """

    name = "isalg"

    eta: float = parameter(
        0.2, "share of instances sampled from the population; limits p/q to 1/eta", at_least=0, at_most=1
    )
    cap: float | None = parameter(
        None, "maximum width of the Gaussian, in units of x; none: the half margin", above=0
    )
    density: str = parameter(
        "marginal",
        "density q: centre integrated out, or around the sampled centre",
        choices=("marginal", "literal"),
    )
    weighted: bool = parameter(True, "use the weights p/q; false: weight 1")

    def draw(self, learner: PlaneLearner, rng: np.random.Generator) -> Draw:
        """Return an instance near the plane, with its weight."""
        population, plane = learner.population, learner.plane
        width = plane.half_margin if self.cap is None else min(plane.half_margin, self.cap)
        spread = width**2 * np.eye(plane.normal.size)
        around = Gaussian(plane.project(population.draw(rng))[0], spread)
        x = (population if rng.random() < self.eta else around).draw(rng)[0]
        if not self.weighted:
            return Draw(x)
        near = around if self.density == "literal" else population.projected(plane).plus(spread)
        return Draw(x, self._weight(population.log_density(x), near.log_density(x)))

    def _weight(self, log_p: float, log_near: float) -> float:
        """Return p/q with q = (1 - eta) near + eta p, from log densities."""
        near = math.log1p(-self.eta) + log_near if self.eta < 1 else -math.inf
        population = math.log(self.eta) + log_p if self.eta else -math.inf
        return math.exp(log_p - float(np.logaddexp(near, population)))


SAMPLERS: Registry[Sampler] = Registry(
    "sampler",
    Sampler,
    {
        "random": "psm_lab.active.plane_learner:RandomSampler",
        "bi": "psm_lab.active.plane_learner:BoundarySampler",
        "mi": "psm_lab.active.plane_learner:MarginSampler",
        "isalg": "psm_lab.active.plane_learner:GaussianSampler",
        "iwal2": "psm_lab.active.plane_learner:Iwal2",
    },
)
"""Samplers by name."""


def query_probability(gap: float, seen: int, C0: float) -> float:
    """Return the probability of querying a label.

    Parameters
    ----------
    gap : float
        Weighted error of the best plane that labels the instance differently, minus that of the best plane.
    seen : int
        Number of instances of the stream so far, at least 1.
    C0 : float
        Scale of the tolerated deviation, above 0.
    """
    tolerance = C0 * math.log(seen + 1) / seen
    if gap <= math.sqrt(tolerance) + tolerance:
        return 1.0
    return min(1.0, (1 / gap**2 + 1 / gap) * tolerance)


@dataclass
class Iwal2(Sampler):
    """IWAL2: an instance of the population is accepted with query probability P and has weight 1/P.

    P decreases as the label becomes more certain. IWAL2 is a baseline of [003] 5.4.4.

    References
    ----------
    A. Beygelzimer, D. Hsu, J. Langford and T. Zhang, Agnostic active learning without constraints, NIPS 2010,
    but with a simpler formula for the probability.
    """

    name = "iwal2"

    C0: float = parameter(1.0, "scale of the tolerated deviation", above=0)

    def draw(self, learner: PlaneLearner, rng: np.random.Generator) -> Draw:
        """Return the next accepted instance of the stream."""
        n_inspected = 0
        while True:
            n_inspected += 1
            x = learner.population.draw(rng)[0]
            probability = query_probability(
                _gap(learner, x, n_inspected), learner.seen + n_inspected, self.C0
            )
            if rng.random() < probability:
                return Draw(x, 1 / probability, n_inspected)


def _gap(learner: PlaneLearner, x: FloatArray, n_inspected: int) -> float:
    """Return the additional weighted error of the best plane that labels *x* differently.

    Since the loss is convex, the best such plane passes through *x*. It is therefore fitted with *x* as the
    origin. *learner* has the current plane and labels; *n_inspected* is the number of instances since the
    last query.
    """
    shifted = fit_linear(learner.x - x, learner.y, learner.weights, offset=False)
    alternative = Plane(shifted.normal, -float(shifted.normal @ x))
    errors = [
        learner.weights @ (plane.predict(learner.x) != learner.y) for plane in (alternative, learner.plane)
    ]
    return float(errors[0] - errors[1]) / (learner.seen + n_inspected)


_FIRST = 4
"""Number of random first instances, as in the program of :mod:`psm_lab.studies.active.reference_results`."""


class PlaneLearner(AskTellLearner[FloatArray, int]):
    """Learner that queries the label of one instance at a time and refits its plane.

    The first instances are sampled from the population, and all others by the sampler.

    Parameters
    ----------
    sampler : Sampler or str
        Sampler of the instances, or its name: ``random``, ``bi``, ``mi``, ``isalg:eta=0.2,...`` or ``iwal2``.
    population : Gaussian
        Distribution p of the instances over which the error is defined.
    seed : int
        Seed of the random stream.

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

    def __init__(
        self,
        sampler: Sampler | str,
        population: Gaussian,
        seed: int = 1,
    ) -> None:
        super().__init__(seed)
        self.sampler: Sampler = SAMPLERS.create(sampler) if isinstance(sampler, str) else copy(sampler)
        self.population = population
        self._draw = Draw(population.mean)
        self.x: FloatArray = np.empty((0, population.features))
        self.y: IntArray = np.empty(0, dtype=np.intp)
        self.weights: FloatArray = np.empty(0)
        self.plane, self.seen = Plane(np.zeros(population.features)), 0

    def _next(self) -> FloatArray:
        is_first = self.n_queries < _FIRST
        self._draw = (
            Draw(self.population.draw(self._rng)[0]) if is_first else self.sampler.draw(self, self._rng)
        )
        return self._draw.x.copy()

    def _learn(self, asked: FloatArray, answer: int) -> None:
        self.x, self.y = np.vstack([self.x, self._draw.x]), np.append(self.y, answer)
        self.weights, self.seen = np.append(self.weights, self._draw.weight), self.seen + self._draw.seen
        self.plane = fit_linear(self.x, self.y, self.weights, start=self.plane)

    def run(self, oracle: Callable[[FloatArray], int], labels: int) -> Plane:
        """Query ``oracle(x)`` until there are *labels* labels, and return the plane."""
        self.query(oracle, labels)
        return self.plane

    def predict(self, x: ArrayLike) -> IntArray:
        """Return 1 or -1 for instances of shape (n, d)."""
        return self.plane.predict(x)
