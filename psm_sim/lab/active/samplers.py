"""Samplers that draw the next instance to label, with its importance weight ([003] 5.4)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.parameters import check_all, parameter
from psm_sim.common.registry import Registry
from psm_sim.lab.active.gaussian_instances import Gaussian
from psm_sim.lab.active.linear_separator import Plane
from psm_sim.lab.active.serializable import Serializable

if TYPE_CHECKING:
    from psm_sim.lab.active.plane_learner import PlaneLearner


class WeightedDraw(Protocol):
    """Attributes of a learner that a sampler near the plane uses."""

    population: Gaussian
    plane: Plane


_TRIES = 500
_COVARIANCE_POINTS = 1000


class Draw(NamedTuple):
    """Instance to label, shape (d,), its importance weight, and the number of instances inspected for it."""

    x: FloatArray
    weight: float = 1.0
    seen: int = 1


class Sampler(Serializable, ABC):
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

    By default (``marginal``) q is the density of the instance after integrating out the centre. The
    definition of [003] (``literal``) is the density around the sampled centre. Its weights span (half
    margin)^d, so the first instances dominate the fit.
    """

    name = "isalg"

    eta: float = parameter(
        0.2, "share of instances sampled from the population; limits p/q to 1/eta", at_least=0, at_most=1
    )
    cap: float | None = parameter(
        None, "maximum width of the Gaussian, in units of x; none: the half margin", above=0, optional=True
    )
    density: str = parameter(
        "marginal",
        "density q: centre integrated out, or around the sampled centre",
        choices=("marginal", "literal"),
    )
    shape: str = parameter(
        "diagonal",
        "covariance: isotropic, or estimated along and across the plane",
        choices=("diagonal", "parallel"),
    )
    weighted: bool = parameter(True, "use the weights p/q; false: weight 1")

    def draw(self, learner: WeightedDraw, rng: np.random.Generator) -> Draw:
        """Return an instance near the plane, with its weight."""
        population, plane = learner.population, learner.plane
        spread = self._covariance(plane, rng)
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

    def _covariance(self, plane: Plane, rng: np.random.Generator) -> FloatArray:
        width = plane.half_margin if self.cap is None else min(plane.half_margin, self.cap)
        if self.shape == "diagonal":
            return width**2 * np.eye(plane.normal.size)
        return parallel_covariance(plane, width, rng)


def parallel_covariance(plane: Plane, width: float, rng: np.random.Generator) -> FloatArray:
    """Return the covariance of 1000 points around the plane ([003] 5.4.3), shape (d, d).

    Parameters
    ----------
    plane : Plane
        Plane around which the points are sampled.
    width : float
        Standard deviation along a random direction of the plane and across it, in units of x.
    rng : numpy.random.Generator
        Source of the random numbers.
    """
    unit = plane.normal / plane.norm
    along = rng.standard_normal((_COVARIANCE_POINTS, unit.size))
    along -= np.outer(along @ unit, unit)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    first, second = width * rng.standard_normal((2, _COVARIANCE_POINTS, 1))
    return np.atleast_2d(np.cov(first * along + second * unit, rowvar=False))


SAMPLERS: Registry[Sampler] = Registry(
    "sampler",
    Sampler,
    {
        "random": "psm_sim.lab.active.samplers:RandomSampler",
        "bi": "psm_sim.lab.active.samplers:BoundarySampler",
        "mi": "psm_sim.lab.active.samplers:MarginSampler",
        "isalg": "psm_sim.lab.active.samplers:GaussianSampler",
        "iwal2": "psm_sim.lab.active.iwal:Iwal2",
    },
)
"""Samplers by name."""
