"""Gaussian distributions of instances: drawn from, evaluated, and flattened onto a plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray
from psm_sim.errors import InputError
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.linear_separator import Plane


@dataclass(frozen=True)
class Gaussian:
    """Gaussian N(mean, covariance) over instances.

    Attributes
    ----------
    mean : ndarray, shape (d,)
        The centre.
    covariance : ndarray, shape (d, d)
        Symmetric; positive definite where a density is asked for.
    """

    mean: FloatArray
    covariance: FloatArray

    @classmethod
    def standard(cls, features: int) -> Gaussian:
        """Return N(0, I) over instances of *features* numbers."""
        return cls(np.zeros(features), np.eye(features))

    @classmethod
    def of(cls, x: ArrayLike) -> Gaussian:
        """Return the Gaussian with the mean and covariance of instances, shape (n, d), n above 1.

        A millionth of the largest variance is added to each variance, so that features that depend on
        each other leave a density.
        """
        points = input_checks.check_instances(x, None, "the population")
        if len(points) < 2:
            raise InputError(
                "the population: there is 1 instance; expected at least 2, since a spread is estimated."
            )
        spread = np.atleast_2d(np.cov(points, rowvar=False))
        return cls(points.mean(axis=0), spread + 1e-6 * spread.max() * np.eye(points.shape[1]))

    @property
    def features(self) -> int:
        """The number d of features."""
        return self.mean.size

    def draw(self, rng: np.random.Generator, n: int = 1) -> FloatArray:
        """Return *n* instances, shape (n, d)."""
        values, axes = np.linalg.eigh(self.covariance)
        scale = np.sqrt(np.maximum(values, 0.0))
        found: FloatArray = self.mean + (rng.standard_normal((n, self.features)) * scale) @ axes.T
        return found

    def log_density(self, x: FloatArray) -> float:
        """Return the logarithm of the density at one instance, shape (d,)."""
        root = np.linalg.cholesky(self.covariance)
        standard = np.linalg.solve(root, x - self.mean)
        log_volume = np.log(np.diagonal(root)).sum() + self.features / 2 * math.log(2 * math.pi)
        return float(-standard @ standard / 2 - log_volume)

    def projected(self, plane: Plane) -> Gaussian:
        """Return the distribution of drawn instances projected on *plane*: it has no width across it."""
        unit = plane.normal / plane.norm
        along = np.eye(self.features) - np.outer(unit, unit)
        return Gaussian(plane.project(self.mean[None])[0], along @ self.covariance @ along)

    def plus(self, covariance: FloatArray) -> Gaussian:
        """Return the distribution with independent Gaussian noise of that covariance added."""
        return Gaussian(self.mean, self.covariance + covariance)
