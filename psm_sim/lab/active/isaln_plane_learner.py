"""ISALn: rounds of draws near the plane, each plane within an angle of the previous one ([003] 5.2.4).

The parameters of a round follow from Theorem 5 of [003].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter
from psm_sim.lab.active.angle_constrained_fit import fit_within_angle
from psm_sim.lab.active.ask_tell import AskTellLearner
from psm_sim.lab.active.gaussian_instances import Gaussian
from psm_sim.lab.active.linear_separator import Plane
from psm_sim.lab.active.plane_learner import Draw, GaussianSampler


class Round(NamedTuple):
    """Parameters of one ISALn round: half margin and radius (angle)."""

    half_margin: float
    radius: float


def noisy_round(i: int, d: int, beta: float, alpha: float = 0.0) -> Round:
    """Return round i of ISALn ([003] Theorem 5).

    After ceil(log2(beta/eps)) rounds the error exceeds the minimum by at most eps, for eps < beta/8. The
    number of draws that the theorem requires has an unknown constant.

    Parameters
    ----------
    i : int
        Number of the round, from 1.
    d : int
        Number of features, at least 4.
    beta : float
        Noise level: |P(+|x) - P(-|x)| >= 4 beta; above 0 and at most 1/4.
    alpha : float
        Exponent of the noise near the plane, at least 0 and below 1 ([003] (5.61)).
    """
    if d < 4 or not 0 < beta <= 0.25:
        raise InputError(f"d must be >= 4, and beta > 0 and <= 0.25, got {d} and {beta}.")
    if not 0 <= alpha < 1:
        raise InputError(f"alpha must be >= 0 and < 1, got {alpha}.")
    common = 5 + alpha * i * math.log(2) - math.log(beta)
    half_margin = 2 ** (-(1 - alpha) * i) * math.pi / math.sqrt(d) * math.sqrt(common + math.log(2 + i))
    return Round(half_margin, math.pi if i == 1 else 2 ** (-(1 - alpha) * i - 2) * math.pi)


_DRAWS = Parameter("draws", 100, at_least=1)
_SCALE = Parameter("scale", 1.0, above=0)
_C = Parameter("C", 1.0, above=0)


class Isaln(AskTellLearner[FloatArray, int]):
    """ISALn for planes through the origin, with label noise.

    Round 1 samples from the population. Each later round samples around the plane, as wide as the margin of
    Theorem 5. Its plane is fitted to the labels of that round alone, within the angle of Theorem 5 of the
    previous plane.

    Parameters
    ----------
    population : Gaussian
        Distribution p of the instances: mean 0 and at least 4 features. The margins of the theorem apply to
        the unit ball. They are scaled by the root mean squared norm of an instance.
    draws : int
        Labels queried in each round. The number of the theorem depends on an unknown constant.
    beta : float
        Noise level: |P(+|x) - P(-|x)| >= 4 beta, above 0 and at most 1/4. Labels flipped with probability f
        have beta = (1 - 2f)/4.
    alpha : float
        Exponent of the noise near the plane, at least 0 and below 1.
    scale : float
        Factor on the half margins of Theorem 5, above 0. In the first rounds they are wider than the
        population; with 0.1 the error decreased faster in all our runs.
    sampler : GaussianSampler, optional
        Sampler of the instances around the plane. In our runs ``weighted=False`` learnt much faster.
    C : float
        Weight of the loss.
    seed, replication : int
        Seed and replication of the random stream.
    """

    name = "isaln"

    def __init__(
        self,
        population: Gaussian,
        draws: int = 100,
        beta: float = 0.25,
        alpha: float = 0.0,
        scale: float = 1.0,
        sampler: GaussianSampler | None = None,
        C: float = 1.0,
        seed: int = 1,
        replication: int = 0,
    ) -> None:
        super().__init__(seed, replication)
        if np.abs(population.mean).max() > 1e-9:
            raise InputError("the mean of the population must be 0; subtract the mean first.")
        self.population, self.beta, self.alpha = population, beta, alpha
        self.draws, self.C = _DRAWS.check(draws, self.name), _C.check(C, self.name)
        self.sampler = GaussianSampler() if sampler is None else copy(sampler)
        self.scale = _SCALE.check(scale, self.name)
        self._length = self.scale * math.sqrt(float(np.trace(population.covariance)))
        self.rounds, self.plane = 0, Plane(np.zeros(population.features))
        self._draw = Draw(population.mean)
        self._answers: list[tuple[Draw, int]] = []
        self._round_bound(1)

    def _round_bound(self, i: int) -> Round:
        return noisy_round(i, self.population.features, self.beta, self.alpha)

    def _next(self) -> FloatArray:
        first = Draw(self.population.draw(self._rng)[0]) if self.rounds == 0 else None
        self._draw = first or self.sampler.draw(self, self._rng)
        return self._draw.x.copy()

    def _learn(self, asked: FloatArray, answer: int) -> None:
        self._answers.append((self._draw, answer))
        if len(self._answers) == self.draws:
            self._end_round()

    def _end_round(self) -> None:
        """Fit the plane.

        The norm of its normal makes the half margin equal to that of the next round's draws.
        """
        self.rounds += 1
        bound = self._round_bound(self.rounds)
        x, weights = (
            np.array([draw.x for draw, _ in self._answers]),
            [draw.weight for draw, _ in self._answers],
        )
        fitted = fit_within_angle(x, [y for _, y in self._answers], weights, self.plane, bound.radius, self.C)
        self.plane = Plane(fitted.normal / (fitted.norm * bound.half_margin * self._length))
        self._answers = []

    def run(self, oracle: Callable[[FloatArray], int], rounds: int) -> Plane:
        """Query ``oracle(x)`` until *rounds* rounds are complete, and return the plane."""
        self.query(oracle, rounds * self.draws)
        return self.plane

    def predict(self, x: ArrayLike) -> IntArray:
        """Return 1 or -1 for instances of shape (n, d)."""
        return self.plane.predict(x)
