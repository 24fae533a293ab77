"""ISALg in one dimension: a threshold with label noise, found by importance-weighted errors ([003] 5.2.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_lab.active import input_checks
from psm_lab.active.ask_tell import AskTellLearner
from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter


def weighted_error(predictions: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the mean of (p/q)(x_i) 1[h(x_i) != y_i], an unbiased estimate of the error under p.

    The estimate stays unbiased if each q depends on the earlier labels, as long as q > 0 wherever p > 0
    ([003] Lemma 1).

    Parameters
    ----------
    predictions, y : array_like, shape (n,)
        Predicted and queried labels, -1 or 1.
    weights : array_like, shape (n,), optional
        p(x_i) / q_i(x_i), 0 or more (default: all 1).
    """
    n, owner = np.size(y), "weighted_error"
    if not n:
        raise InputError(f"{owner}: y must have at least 1 label, got 0.")
    wrong = input_checks.check_labels(predictions, n, owner) != input_checks.check_labels(y, n, owner)
    return float((input_checks.check_weights(weights, n, owner) * wrong).sum() / n)


class ErrorProfile(NamedTuple):
    """Weighted error of every threshold, as a step function of the threshold.

    Attributes
    ----------
    edges : ndarray, shape (n + 2,)
        Ends of the interval and the n instances between them, in ascending order.
    errors : ndarray, shape (n + 1,)
        Weighted error of a threshold between two neighbouring edges.
    best : int
        Index of the step with the least error; the widest one if several are equal.
    """

    edges: FloatArray
    errors: FloatArray
    best: int

    @property
    def threshold(self) -> float:
        """Middle of the best step."""
        return float(self.edges[self.best : self.best + 2].mean())

    @property
    def alternative(self) -> FloatArray:
        """Least error of the thresholds that disagree with the best one on a step, shape (n + 1,)."""
        falling = np.minimum.accumulate(self.errors)[: self.best]
        rising = np.minimum.accumulate(self.errors[::-1])[::-1][self.best :]
        return np.concatenate([falling, rising])


def error_profile(x: FloatArray, y: IntArray, weights: FloatArray) -> ErrorProfile:
    """Return the weighted error of all thresholds on [0, 1].

    Parameters
    ----------
    x : ndarray, shape (n,)
        Instances between 0 and 1.
    y : ndarray, shape (n,)
        Labels, -1 or 1; a threshold predicts 1 for instances at or above it.
    weights : ndarray, shape (n,)
        Importance weights.
    """
    order = np.argsort(x, kind="stable")
    shares = weights[order] / max(len(x), 1)
    below = np.concatenate([[0.0], np.cumsum(shares * (y[order] > 0))])
    above = np.concatenate([np.cumsum((shares * (y[order] < 0))[::-1])[::-1], [0.0]])
    errors, edges = below + above, np.concatenate([[0.0], x[order], [1.0]])
    widths = np.where(errors <= errors.min() + 1e-12, np.diff(edges), -1.0)
    return ErrorProfile(edges, errors, int(widths.argmax()))


_ETA = Parameter("eta", 0.2, at_least=0, at_most=1)  # no source states a default
_CENTRES, _WIDTHS = np.linspace(0, 1, 21), (0.02, 0.05, 0.1, 0.2)
"""Centres and standard deviations of the candidate Gaussians, in all combinations."""


class _Candidates:
    """Gaussians truncated to [0, 1], one for each centre and width, as candidate sampling distributions."""

    def __init__(self) -> None:
        grid = np.meshgrid(_CENTRES, _WIDTHS, indexing="ij")
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
        """Return an instance in [0, 1], sampled from candidate Gaussian *index*."""
        while True:
            x = float(rng.normal(self._centres[index], self._widths[index]))
            if 0 <= x <= 1:
                return x

    def density(self, index: int, x: float) -> float:
        """Return the density of candidate Gaussian *index* at *x*."""
        width = self._widths[index]
        height = math.exp(-(((x - self._centres[index]) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
        return float(height / self._mass[index])


class Isalg1d(AskTellLearner[float, int]):
    """ISALg for a threshold with label noise; the population is uniform on [0, 1].

    The alternatives are the thresholds that disagree with the current one on an instance. Each instance is
    sampled from the distribution under which the best alternatives have the least weighted error. The
    candidate distributions are Gaussians and the population.

    Parameters
    ----------
    eta : float
        Share of instances sampled from the population, 0 to 1; it limits the weights to 1/eta.
    seed, replication : int
        Seed and replication of the random stream.
    """

    name = "isalg-1d"

    def __init__(self, eta: float = 0.2, seed: int = 1, replication: int = 0) -> None:
        super().__init__(seed, replication)
        self.eta = _ETA.check(eta, self.name)
        self._candidates = _Candidates()
        self._answers: list[tuple[float, int, float]] = []
        self._weight = 1.0

    @property
    def threshold(self) -> float:
        """Threshold with the least weighted error."""
        return self._profile().threshold

    def _next(self) -> float:
        x, self._weight = self._draw()
        return x

    def _learn(self, asked: float, answer: int) -> None:
        self._answers.append((asked, answer, self._weight))

    def run(self, oracle: Callable[[float], int], labels: int) -> float:
        """Query ``oracle(x)`` until there are *labels* labels, and return the threshold."""
        self.query(oracle, labels)
        return self.threshold

    def _profile(self) -> ErrorProfile:
        x, y, weights = np.array(self._answers).reshape(-1, 3).T
        return error_profile(x, y.astype(np.intp), weights)

    def _draw(self) -> tuple[float, float]:
        """Return an instance and its weight p/q, where p = 1."""
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
