"""ISALg in one dimension: a threshold with label noise ([003] 5.2.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.parameters import Parameter
from psm_sim.lab.active.ask_tell import AskTellLearner
from psm_sim.lab.active.importance_weighted_error import ErrorProfile, error_profile
from psm_sim.lab.active.threshold_learner import check_region

_ETA = Parameter("eta", 0.2, at_least=0, at_most=1)
_CENTRES = Parameter("centres", 21, at_least=1)
_WIDTH = Parameter("a width", 0.1, above=0)
WIDTHS = (0.02, 0.05, 0.1, 0.2)
"""Standard deviations of the candidate Gaussians, as shares of the interval."""


class _Candidates:
    """Gaussians truncated to [0, 1], one for each centre and width, as candidate sampling distributions."""

    def __init__(self, centres: int, widths: Sequence[float]) -> None:
        grid = np.meshgrid(np.linspace(0, 1, centres), widths, indexing="ij")
        self._centres, self._widths = (axis.ravel() for axis in grid)
        low, high = self._mass_below(np.array([0.0, 1.0])).T
        self._mass = high - low

    def _mass_below(self, x: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        masses: FloatArray = ndtr((x - self._centres[:, None]) / self._widths[:, None])
        return masses

    def expected(self, edges: FloatArray, errors: FloatArray) -> FloatArray:
        """Return the mean of a step function under each Gaussian, shape (candidates,)."""
        means: FloatArray = np.diff(self._mass_below(edges)) @ errors / self._mass
        return means

    def draw(self, index: int, rng: np.random.Generator) -> float:
        """Return an instance in [0, 1] sampled from the Gaussian with an *index*."""
        while True:
            x = float(rng.normal(self._centres[index], self._widths[index]))
            if 0 <= x <= 1:
                return x

    def density(self, index: int, x: float) -> float:
        """Return the density at *x* of the Gaussian with an *index*."""
        width = self._widths[index]
        height = math.exp(-(((x - self._centres[index]) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
        return float(height / self._mass[index])


class Isalg1d(AskTellLearner[float, int]):
    """ISALg for a threshold with label noise; the population is uniform on [low, high].

    The alternatives are the thresholds that disagree with the current one on an instance. Each instance is
    sampled from the distribution under which the best alternatives have the least weighted error. The
    candidates are Gaussians and the population itself.

    Parameters
    ----------
    low, high : float
        Ends of the interval of the population.
    eta : float
        Share of instances sampled from the population, 0 to 1; it limits the weights to 1/eta.
    centres : int
        Number of evenly spaced centres of the Gaussians.
    widths : sequence of float
        Standard deviations as shares of the interval, each combined with every centre. A narrow Gaussian
        concentrates the draws at the current threshold, which makes the learner less robust to noise.
    seed, replication : int
        Seed and replication of the random stream.
    """

    name = "isalg-1d"

    def __init__(
        self,
        low: float = 0.0,
        high: float = 1.0,
        eta: float = 0.2,
        centres: int = 21,
        widths: Sequence[float] = WIDTHS,
        seed: int = 1,
        replication: int = 0,
    ) -> None:
        super().__init__(seed, replication)
        check_region(low, high)
        self.low, self.high = float(low), float(high)
        self.eta = _ETA.check(eta, self.name)
        self.centres = _CENTRES.check(centres, self.name)
        self.widths = [float(_WIDTH.check(width, self.name)) for width in widths]
        self._candidates = _Candidates(self.centres, self.widths)
        self._answers: list[tuple[float, int, float]] = []
        self._unit, self._weight = 0.0, 1.0

    @property
    def threshold(self) -> float:
        """Threshold with the least weighted error."""
        return self.low + (self.high - self.low) * self._profile().threshold

    def _next(self) -> float:
        self._unit, self._weight = self._draw()
        return self.low + (self.high - self.low) * self._unit

    def _learn(self, asked: float, answer: int) -> None:
        self._answers.append((self._unit, answer, self._weight))

    def run(self, oracle: Callable[[float], int], labels: int) -> float:
        """Query ``oracle(x)`` until there are *labels* labels, and return the threshold."""
        self.query(oracle, labels)
        return self.threshold

    def _profile(self) -> ErrorProfile:
        x, y, weights = np.array(self._answers).reshape(-1, 3).T
        return error_profile(x, y.astype(np.intp), weights, 0.0, 1.0)

    def _draw(self) -> tuple[float, float]:
        """Return an instance on the unit interval and its weight p/q, where p = 1."""
        index = self._best_candidate()
        if index is None:
            return float(self._rng.random()), 1.0
        from_population = self._rng.random() < self.eta
        x = float(self._rng.random()) if from_population else self._candidates.draw(index, self._rng)
        return x, 1 / ((1 - self.eta) * self._candidates.density(index, x) + self.eta)

    def _best_candidate(self) -> int | None:
        """Return the Gaussian with the least expected error of the alternatives; None for the population."""
        profile = self._profile()
        expected = self._candidates.expected(profile.edges, profile.alternative)
        best = int(expected.argmin())
        return best if expected[best] < np.diff(profile.edges) @ profile.alternative else None
