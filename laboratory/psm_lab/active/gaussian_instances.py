"""Gaussian distributions of instances: sampling, density and projection onto a plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from psm_lab.active.linear_separator import Plane
from psm_sim.common.array_types import FloatArray


@dataclass(frozen=True)
class Gaussian:
    """Gaussian distribution N(mean, covariance) of instances.

    Attributes
    ----------
    mean : ndarray, shape (d,)
        Mean.
    covariance : ndarray, shape (d, d)
        Symmetric matrix; :meth:`log_density` requires a positive definite one.
    """

    mean: FloatArray
    covariance: FloatArray

    @classmethod
    def standard(cls, features: int) -> Gaussian:
        """Return N(0, I) for instances with *features* features."""
        return cls(np.zeros(features), np.eye(features))

    @property
    def features(self) -> int:
        """Number d of features."""
        return self.mean.size

    def draw(self, rng: np.random.Generator, n: int = 1) -> FloatArray:
        """Return *n* sampled instances, shape (n, d)."""
        values, axes = np.linalg.eigh(self.covariance)
        scale = np.sqrt(np.maximum(values, 0.0))
        instances: FloatArray = self.mean + (rng.standard_normal((n, self.features)) * scale) @ axes.T
        return instances

    def log_density(self, x: FloatArray) -> float:
        """Return the logarithm of the density at one instance, shape (d,)."""
        root = np.linalg.cholesky(self.covariance)
        standard = np.linalg.solve(root, x - self.mean)
        log_volume = np.log(np.diagonal(root)).sum() + self.features / 2 * math.log(2 * math.pi)
        return float(-standard @ standard / 2 - log_volume)

    def projected(self, plane: Plane) -> Gaussian:
        """Return the distribution of the projections onto *plane*; its variance across the plane is 0."""
        unit = plane.normal / plane.norm
        along = np.eye(self.features) - np.outer(unit, unit)
        return Gaussian(plane.project(self.mean[None])[0], along @ self.covariance @ along)

    def plus(self, covariance: FloatArray) -> Gaussian:
        """Return the distribution with added independent Gaussian noise of the given *covariance*."""
        return Gaussian(self.mean, self.covariance + covariance)
