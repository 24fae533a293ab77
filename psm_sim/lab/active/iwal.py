"""IWAL2: stream-based sampling with a query probability that decreases with certainty.

Source: A. Beygelzimer, D. Hsu, J. Langford, T. Zhang, Agnostic active learning without constraints, NIPS
2010, with the simpler form of the probability. It is a baseline of [003] 5.4.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.parameters import parameter
from psm_sim.lab.active.linear_separator import Plane, fit_linear
from psm_sim.lab.active.samplers import Draw, Sampler

if TYPE_CHECKING:
    from psm_sim.lab.active.plane_learner import PlaneLearner


def query_probability(gap: float, seen: int, C0: float) -> float:
    """Return the probability of querying a label.

    Parameters
    ----------
    gap : float
        Weighted error of the best plane that labels the instance differently, minus that of the best plane.
    seen : int
        Number of instances of the stream so far, at least 1.
    C0 : float
        Scale of the tolerated deviation, above 0.
    """
    tolerance = C0 * math.log(seen + 1) / seen
    if gap <= math.sqrt(tolerance) + tolerance:
        return 1.0
    return min(1.0, (1 / gap**2 + 1 / gap) * tolerance)


@dataclass
class Iwal2(Sampler):
    """IWAL2: an instance of the population is accepted with query probability P and has weight 1/P."""

    name = "iwal2"

    C0: float = parameter(1.0, "scale of the tolerated deviation", above=0)

    def draw(self, learner: PlaneLearner, rng: np.random.Generator) -> Draw:
        """Return the next accepted instance of the stream."""
        n_inspected = 0
        while True:
            n_inspected += 1
            x = learner.population.draw(rng)[0]
            probability = query_probability(
                _gap(learner, x, n_inspected), learner.seen + n_inspected, self.C0
            )
            if rng.random() < probability:
                return Draw(x, 1 / probability, n_inspected)


def _gap(learner: PlaneLearner, x: FloatArray, n_inspected: int) -> float:
    """Return the additional weighted error of the best plane that labels *x* differently.

    Since the loss is convex, that plane passes through *x*. It is therefore fitted with *x* as the origin.
    *learner* has the current plane and labels; *n_inspected* counts the instances since the last query.
    """
    shifted = fit_linear(learner.x - x, learner.y, learner.weights, learner.C, learner.loss, offset=False)
    alternative = Plane(shifted.normal, -float(shifted.normal @ x))
    errors = [
        learner.weights @ (plane.predict(learner.x) != learner.y) for plane in (alternative, learner.plane)
    ]
    return float(errors[0] - errors[1]) / (learner.seen + n_inspected)
