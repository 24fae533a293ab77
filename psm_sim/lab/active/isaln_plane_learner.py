"""ISALn: rounds of draws near the plane, each plane within an angle of the previous one ([003] 5.2.4).

The parameters of a round follow from the theorems of [003] 5.2.2 to 5.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter
from psm_sim.lab.active import input_checks
from psm_sim.lab.active.angle_constrained_fit import fit_within_angle
from psm_sim.lab.active.ask_tell import AskTellLearner
from psm_sim.lab.active.gaussian_instances import Gaussian
from psm_sim.lab.active.linear_separator import Plane
from psm_sim.lab.active.plane_learner import Draw, GaussianSampler


class Round(NamedTuple):
    """Parameters of one ISAL or ISALn round: draws, half margin, target excess error, radius (angle)."""

    draws: float
    half_margin: float
    excess: float
    radius: float


def separable_round(
    i: int, d: int, delta: float, largest_weight: float = 1.0, constant: float = 1.0
) -> Round:
    """Return round i of ISAL on the unit ball without noise.

    Source: [003] Theorem 4 for d >= 4, else Theorem 3. After ceil(log2(1/eps)) rounds (2 fewer for d >= 4)
    the error is at most eps with probability 1 - delta.

    Parameters
    ----------
    i : int
        Number of the round, from 1.
    d : int
        Number of features.
    delta : float
        Probability of failure, 0 to 1.
    largest_weight : float
        r_max, the largest importance weight, at least 1.
    constant : float
        Constant C of the theorem, which only proves its existence.
    """
    _check_round(i, d, delta)
    if d < 4:
        draws, margin = math.sqrt(d) * (d * math.log(d) + math.log(i / delta)), math.pi / 2 ** (i - 1)
    else:
        draws = math.sqrt(math.log(1 + i)) * (d * math.log(1 + math.log(i)) + math.log(i / delta))
        margin = 2 ** (1 - i) * math.pi / math.sqrt(d) * math.sqrt(5 + math.log(1 + i))
    return Round(largest_weight * constant * draws, margin, 0.0, math.pi)


def separable_draws(
    error: float, d: int, delta: float, largest_weight: float = 1.0, constant: float = 1.0
) -> float:
    """Return the number of draws until the error is at most *error*.

    Source: [003] Corollary 2 for d >= 4, else Corollary 1.

    Parameters
    ----------
    error : float
        Above 0; below 1/4 for d >= 4, else below 1.
    d : int
        Number of features.
    delta : float
        Probability of failure, 0 to 1.
    largest_weight, constant : float
        See :func:`separable_round`.
    """
    _expect(0 < error < (0.25 if d >= 4 else 1), "error must be > 0 and < 1/4 (1 for d < 4)", f"{error}")
    rounds = math.ceil(math.log2(1 / error)) - (2 if d >= 4 else 0)
    return rounds * separable_round(rounds, d, delta, largest_weight, constant).draws


def noisy_draws(
    error: float,
    d: int,
    delta: float,
    beta: float,
    alpha: float = 0.0,
    rates: tuple[float, float] = (1.0, 1.0),
) -> float:
    """Return the draws of all ISALn rounds until the excess error is at most *error* ([003] Theorem 5).

    Parameters
    ----------
    error : float
        Above 0 and below beta/8.
    d, delta, beta, alpha, rates
        See :func:`noisy_round`.
    """
    _expect(0 < error < beta / 8, f"error must be between 0 and beta/8 = {beta / 8:g}", f"{error}")
    rounds = math.ceil(math.log2(beta / error))
    return sum(noisy_round(i, d, delta, beta, alpha, rates).draws for i in range(1, rounds + 1))


def noisy_round(
    i: int, d: int, delta: float, beta: float, alpha: float = 0.0, rates: tuple[float, float] = (1.0, 1.0)
) -> Round:
    """Return round i of ISALn ([003] Theorem 5).

    After ceil(log2(beta/eps)) rounds the error exceeds the minimum by at most eps, for eps < beta/8, with
    probability 1 - delta.

    Parameters
    ----------
    i : int
        Number of the round, from 1.
    d : int
        Number of features, at least 4.
    delta : float
        Probability of failure, 0 to 1.
    beta : float
        Noise level: |P(+|x) - P(-|x)| >= 4 beta; above 0 and at most 1/4.
    alpha : float
        Exponent of the noise near the plane, at least 0 and below 1 ([003] (5.61)).
    rates : tuple of float
        r_max, and the constant C of the theorem, which only proves its existence.
    """
    _check_round(i, d, delta)
    _expect(
        d >= 4 and 0 < beta <= 0.25,
        "d must be >= 4, and beta > 0 and <= 0.25",
        f"{d} and {beta}",
    )
    _expect(0 <= alpha < 1, "alpha must be >= 0 and < 1", f"{alpha}")
    common = 5 + alpha * i * math.log(2) - math.log(beta)
    excess = 2 ** (-alpha * (i - 1) - 4) * beta / math.sqrt(common + math.log(1 + i))
    margin = 2 ** (-(1 - alpha) * i) * math.pi / math.sqrt(d) * math.sqrt(common + math.log(2 + i))
    radius = math.pi if i == 1 else 2 ** (-(1 - alpha) * i - 2) * math.pi
    draws = rates[0] * rates[1] * (d + math.log(i / delta)) / excess**2
    return Round(draws, margin, excess, radius)


def excess_error(n: int, delta: float, largest_weight: float, fat: Callable[[float], float]) -> float:
    """Return a bound on L(h_n) - min L for the h_n of least weighted error ([003] Theorem 6, corrected).

    It is twice the deviation 2 r_max inf_a {4a + 12 (1 - a) sqrt(fat(a) ln(2 e n / a) / n)} +
    r_max sqrt(8 ln(2/delta) / n); [003] omits the factor 2.

    Parameters
    ----------
    n : int
        Number of queried labels, at least 1.
    delta : float
        Probability of failure, 0 to 1.
    largest_weight : float
        r_max, at least 1.
    fat : callable
        Fat-shattering dimension of the hypotheses at a scale above 0.
    """
    from scipy.optimize import minimize_scalar

    _check_round(n, 1, delta)
    _expect(largest_weight >= 1, "largest_weight must be >= 1", f"{largest_weight}")

    def complexity(log_a: float) -> float:
        a = math.exp(log_a)
        return 4 * a + 12 * (1 - a) * math.sqrt(fat(a) * math.log(2 * math.e * n / a) / n)

    minimum = min(float(minimize_scalar(complexity, bounds=(math.log(1e-9), 0), method="bounded").fun), 4.0)
    return 2 * largest_weight * (2 * minimum + math.sqrt(8 * math.log(2 / delta) / n))


def _check_round(i: int, d: int, delta: float) -> None:
    _expect(i >= 1 and d >= 1, "the counts must be integers >= 1", f"{i} and {d}")
    _expect(0 < delta < 1, "delta must be a probability between 0 and 1", f"{delta}")


def _expect(holds: bool, requirement: str, value: str) -> None:
    if not holds:
        raise InputError(f"{requirement}, got {value}.")


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
    settings = ("draws", "beta", "alpha", "scale", "C")
    state_attributes = ("rounds", "sampler")

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
        return noisy_round(i, self.population.features, 0.05, self.beta, self.alpha)

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

    def _dump_state(self) -> dict[str, Any]:
        answers = [[draw.x.tolist(), draw.weight, y] for draw, y in self._answers]
        return {**super()._dump_state(), "normal": self.plane.normal.tolist(), "told": answers}

    def _load_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        d = self.population.features
        answers = [
            (
                Draw(input_checks.check_instance(x, d, self.name)[0], float(w)),
                input_checks.check_label(y, self.name),
            )
            for x, w, y in state["told"]
        ]
        plane = Plane(input_checks.check_instance(state["normal"], d, self.name)[0])
        return {**super()._load_state(state), "plane": plane, "_answers": answers}

    def predict(self, x: ArrayLike) -> IntArray:
        """Return 1 or -1 for instances of shape (n, d)."""
        return self.plane.predict(x)
