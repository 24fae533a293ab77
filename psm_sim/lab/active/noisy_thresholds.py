"""ISALg in one dimension: a threshold under label noise, drawn for where rivals err least ([003] 5.2.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.ask_tell import AskTellLearner
from psm_sim.lab.active.importance_weights import ErrorProfile, error_profile
from psm_sim.lab.active.threshold_learner import check_region
from psm_sim.parameter_values import Parameter

_ETA = Parameter("eta", 0.2, at_least=0, at_most=1)
_CENTRES = Parameter("centres", 21, at_least=1)
_WIDTH = Parameter("a width", 0.1, above=0)
WIDTHS = (0.02, 0.05, 0.1, 0.2)
"""Standard deviations of the Gaussians that are offered, as shares of the interval."""


class _Offers:
    """Gaussians cut to [0, 1] that an instance may be drawn from, each with a centre and a width."""

    def __init__(self, centres: int, widths: Sequence[float]) -> None:
        places = np.meshgrid(np.linspace(0, 1, centres), widths, indexing="ij")
        self._centres, self._widths = (place.ravel() for place in places)
        low, high = self._below(np.array([0.0, 1.0])).T
        self._mass = high - low

    def _below(self, x: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        found: FloatArray = ndtr((x - self._centres[:, None]) / self._widths[:, None])
        return found

    def expected(self, edges: FloatArray, errors: FloatArray) -> FloatArray:
        """Return the mean of a step function under each Gaussian, shape (offers,)."""
        found: FloatArray = np.diff(self._below(edges)) @ errors / self._mass
        return found

    def draw(self, which: int, rng: np.random.Generator) -> float:
        """Return an instance, 0 to 1."""
        while True:
            x = float(rng.normal(self._centres[which], self._widths[which]))
            if 0 <= x <= 1:
                return x

    def density(self, which: int, x: float) -> float:
        """Return the density of one Gaussian at *x*."""
        width = self._widths[which]
        height = math.exp(-(((x - self._centres[which]) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
        return float(height / self._mass[which])


class Isalg1d(AskTellLearner[float, int]):
    """ISALg for a threshold with label noise; the population is uniform on [low, high].

    Each instance is drawn from the Gaussian, or from the population itself, under which the best
    thresholds that disagree with the present one have the least weighted error.

    Parameters
    ----------
    low, high : float
        The ends of the population's interval.
    eta : float
        Share of instances drawn from the population, so that weights are at most 1/eta; 0 to 1.
    centres : int
        The number of centres offered, evenly spaced from end to end.
    widths : sequence of float
        Their standard deviations, as shares of the interval, each offered at every centre. The narrower
        the narrowest, the more the draws crowd where the threshold now stands, and the worse noise is borne.
    seed, replication : int
        Of the random stream.
    """

    name = "isalg-1d"
    settings = ("low", "high", "eta", "centres", "widths")

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
        self._offers = _Offers(self.centres, self.widths)
        self._labelled: list[tuple[float, int, float]] = []
        self._unit, self._weight = 0.0, 1.0

    @property
    def threshold(self) -> float:
        """The threshold of least weighted error."""
        return self.low + (self.high - self.low) * self._profile().threshold

    def _next(self) -> float:
        self._unit, self._weight = self._draw()
        return self.low + (self.high - self.low) * self._unit

    def _learn(self, asked: float, answer: int) -> None:
        self._labelled.append((self._unit, answer, self._weight))

    def _dump_state(self) -> dict[str, Any]:
        return {**super()._dump_state(), "told": [list(each) for each in self._labelled]}

    def _load_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        told = [
            (float(x), input_checks.check_label(y, self.name), float(weight))
            for x, y, weight in state["told"]
        ]
        return {**super()._load_state(state), "_labelled": told}

    def run(self, oracle: Callable[[float], int], labels: int) -> float:
        """Buy labels of ``oracle(x)`` until there are *labels* of them, and return the threshold."""
        self.buy(oracle, labels)
        return self.threshold

    def _profile(self) -> ErrorProfile:
        x, y, weights = np.array(self._labelled).reshape(-1, 3).T
        return error_profile(x, y.astype(np.intp), weights, 0.0, 1.0)

    def _draw(self) -> tuple[float, float]:
        """Return an instance on the unit interval and its weight p/q, where p = 1."""
        which = self._best_offer()
        if which is None:
            return float(self._rng.random()), 1.0
        own = self._rng.random() < self.eta
        x = float(self._rng.random()) if own else self._offers.draw(which, self._rng)
        return x, 1 / ((1 - self.eta) * self._offers.density(which, x) + self.eta)

    def _best_offer(self) -> int | None:
        """Return the Gaussian of least expected alternative error; None for the population."""
        found = self._profile()
        expected = self._offers.expected(found.edges, found.alternative)
        best = int(expected.argmin())
        return best if expected[best] < np.diff(found.edges) @ found.alternative else None
