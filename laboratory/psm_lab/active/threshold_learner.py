"""ISAL in one dimension: a threshold found by sampling near the boundary region ([003] 5.2.1)."""

from __future__ import annotations

import math
from collections.abc import Callable

from psm_lab.active.ask_tell import AskTellLearner
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter

_WIDTH = Parameter("s", 0.25, above=0)  # no source states a default
_ETA = Parameter("eta", 0.0, at_least=0, at_most=1)  # no noise


class Isal1d(AskTellLearner[float, int]):
    """ISAL for a threshold without label noise, which samples around the middle of the boundary region.

    The boundary region lies between the highest instance labelled -1 and the lowest instance labelled 1. At
    first it is [0, 1], on which the population is uniform. An instance outside the region has a
    known label, but it counts as a query, as in the theory.

    Parameters
    ----------
    s : float
        Standard deviation of a draw as a share of the region's width, above 0.
    eta : float
        Share of instances sampled from the population, 0 to 1.
    seed, replication : int
        Seed and replication of the random stream.
    """

    name = "isal-1d"

    def __init__(self, s: float = 0.25, eta: float = 0.0, seed: int = 1, replication: int = 0) -> None:
        super().__init__(seed, replication)
        self.s, self.eta = _WIDTH.check(s, self.name), _ETA.check(eta, self.name)
        self.low, self.high = 0.0, 1.0

    @property
    def width(self) -> float:
        """Width of the boundary region."""
        return self.high - self.low

    @property
    def threshold(self) -> float:
        """Middle of the boundary region."""
        return (self.low + self.high) / 2

    def _next(self) -> float:
        if self.eta and self._rng.random() < self.eta:
            return float(self._rng.random())
        return float(self._rng.normal(self.threshold, self.s * self.width))

    def _learn(self, asked: float, answer: int) -> None:
        if self.low < asked < self.high:
            self.low, self.high = (asked, self.high) if answer < 0 else (self.low, asked)

    def run(self, oracle: Callable[[float], int], width: float) -> int:
        """Query ``oracle(x)`` until the region is at most *width* wide. Return the number of queries."""
        if not width > 0:
            raise InputError(f"width must be > 0, got {width}.")
        while self.width > width:
            self.tell(oracle(self.ask()))
        return self.n_queries


def isal_contraction(s: float) -> float:
    """Return alpha(s), an upper bound of the mean shrink factor of the boundary region per draw.

    The bound holds for draws from N(middle, (s width)^2) and for any consistent labels. Source:
    [003] Lemma 3 and (5.52), where the first factor sigma^2/sqrt(2 pi) is corrected to sigma/sqrt(2 pi).

    Parameters
    ----------
    s : float
        Standard deviation of a draw as a share of the region's width, above 0.
    """
    if not s > 0:
        raise InputError(f"s must be > 0, got {s}.")
    inside = math.erf(1 / (math.sqrt(8) * s))
    return 1 + s * math.sqrt(2 / math.pi) * (1 - math.exp(-1 / (8 * s**2))) - inside / 2


def isal_draws(s: float, width: float) -> float:
    """Return the number of draws until the mean relative width of the region is at most *width*.

    After n draws, the mean relative width is at most ``alpha(s)**n``, see :func:`isal_contraction`. Source:
    [003] Theorem 2, corrected.

    Parameters
    ----------
    s : float
        Standard deviation of a draw as a share of the region's width, above 0.
    width : float
        Width relative to the first region, between 0 and 1.
    """
    if not 0 < width <= 1:
        raise InputError(f"width must be > 0 and <= 1, got {width}.")
    return math.log(width) / math.log(isal_contraction(s))
