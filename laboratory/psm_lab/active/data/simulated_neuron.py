"""Simulated neuron that responds to images: the neurophysiology data of [003] 5.4.1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from psm_lab.active.gaussian_instances import Gaussian
from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.parameters import check_all, parameter


@dataclass(frozen=True)
class SimulatedNeuron:
    """Neuron with a Gabor receptive field; the label is 1 if it fires on an image, else -1.

    An instance is an image of m x m pixels sampled from N(128, 10), minus 128 and divided by 10, so the
    population is N(0, I). [003] truncates pixels at 0 and 256; the truncation is omitted here, because both
    limits are 12.8 standard deviations away. The probability that the neuron does not fire is
    exp(-ln 2 exp(theta.x)), which is 1/2 on the plane theta.x = 0.
    """

    m: int = parameter(3, "pixels per side of the image", at_least=2)
    scale: float = parameter(6.0, "norm of theta, which [003] does not state", above=0)
    flips: float = parameter(0.0, "share of flipped labels", at_least=0, at_most=1)

    def __post_init__(self) -> None:
        check_all(self, "neuron")

    @property
    def theta(self) -> FloatArray:
        """Receptive field, shape (m * m,)."""
        side = np.linspace(-1, 1, self.m)
        x, y = np.meshgrid(side, side)
        gabor = (np.exp(-(x**2 + y**2) / 2) * np.cos(math.pi * (x + y) / math.sqrt(2))).ravel()
        theta: FloatArray = self.scale * gabor / np.linalg.norm(gabor)
        return theta

    @property
    def population(self) -> Gaussian:
        """Distribution of the instances."""
        return Gaussian.standard(self.m**2)

    def answer(self, x: FloatArray, rng: np.random.Generator) -> IntArray:
        """Return labels, -1 or 1, of instances of shape (n, d); a share of the labels is flipped."""
        rate = np.exp(np.minimum(x @ self.theta, 50.0))
        silent = rng.random(len(x)) < np.exp(-math.log(2) * rate)
        return np.where(silent != (rng.random(len(x)) < self.flips), -1, 1)

    def truth(self, x: FloatArray) -> IntArray:
        """Return the more probable label of instances of shape (n, d)."""
        return np.where(x @ self.theta >= 0, 1, -1)
