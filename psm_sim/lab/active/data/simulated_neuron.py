"""Neuron that answers images: the simulated neurophysiology data of [003] 5.4.1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from psm_sim.array_types import FloatArray, IntArray
from psm_sim.lab.active.gaussian_instances import Gaussian
from psm_sim.parameters import check_all, parameter


@dataclass(frozen=True)
class SimulatedNeuron:
    """Neuron with a Gabor receptive field: label 1 if it fires on an image, -1 if it stays silent.

    An instance is an image of m x m pixels drawn from N(128, 10), minus 128 and divided by 10, so the
    population is N(0, I); the text's cut at 0 and 256 lies 12.8 standard deviations out and is left out.
    Silence has probability exp(-ln 2 exp(theta.x)), one half on the plane theta.x = 0.
    """

    m: int = parameter(3, "pixels per side of the image", at_least=2)
    scale: float = parameter(6.0, "length of theta; the text does not give it", above=0)
    flips: float = parameter(0.0, "share of labels that are flipped", at_least=0, at_most=1)

    def __post_init__(self) -> None:
        check_all(self, "neuron")

    @property
    def theta(self) -> FloatArray:
        """The receptive field, shape (m * m,)."""
        side = np.linspace(-1, 1, self.m)
        x, y = np.meshgrid(side, side)
        gabor = (np.exp(-(x**2 + y**2) / 2) * np.cos(math.pi * (x + y) / math.sqrt(2))).ravel()
        found: FloatArray = self.scale * gabor / np.linalg.norm(gabor)
        return found

    @property
    def population(self) -> Gaussian:
        """The distribution of instances."""
        return Gaussian.standard(self.m**2)

    def answer(self, x: FloatArray, rng: np.random.Generator) -> IntArray:
        """Return labels, -1 or 1, of instances of shape (n, d): the answers, some of them flipped."""
        rate = np.exp(np.minimum(x @ self.theta, 50.0))
        silent = rng.random(len(x)) < np.exp(-math.log(2) * rate)
        return np.where(silent != (rng.random(len(x)) < self.flips), -1, 1)

    def truth(self, x: FloatArray) -> IntArray:
        """Return the more probable label of instances of shape (n, d)."""
        return np.where(x @ self.theta >= 0, 1, -1)
