"""IWAL2: a stream of instances, each labelled with a probability that falls with its certainty.

A. Beygelzimer, D. Hsu, J. Langford, T. Zhang, Agnostic active learning without constraints, NIPS 2010,
with the simpler form of the probability; a rival of [003] 5.4.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.lab.active.linear_separator import Plane, fit_linear
from psm_sim.lab.active.samplers import Draw, Sampler
from psm_sim.parameters import parameter

if TYPE_CHECKING:
    from psm_sim.lab.active.plane_learner import PlaneLearner


def query_probability(gap: float, seen: int, C0: float) -> float:
    """Return the probability of buying a label.

    Parameters
    ----------
    gap : float
        Weighted error of the best plane that labels the instance otherwise, minus that of the best plane.
    seen : int
        The number of instances of the stream so far, at least 1.
    C0 : float
        The scale of the deviation that is tolerated, above 0.
    """
    tolerance = C0 * math.log(seen + 1) / seen
    if gap <= math.sqrt(tolerance) + tolerance:
        return 1.0
    return min(1.0, (1 / gap**2 + 1 / gap) * tolerance)


@dataclass
class Iwal2(Sampler):
    """IWAL2: instances of the population are accepted with the query probability P, with weight 1/P."""

    name = "iwal2"

    C0: float = parameter(1.0, "scale of the deviation that is tolerated", above=0)

    def draw(self, learner: PlaneLearner, rng: np.random.Generator) -> Draw:
        """Return the next accepted instance of the stream."""
        looked = 0
        while True:
            looked += 1
            x = learner.population.draw(rng)[0]
            probability = query_probability(_gap(learner, x, looked), learner.seen + looked, self.C0)
            if rng.random() < probability:
                return Draw(x, 1 / probability, looked)


def _gap(learner: PlaneLearner, x: FloatArray, looked: int) -> float:
    """Return how much more weighted error the best plane has that disagrees with the current one on *x*.

    The best such plane touches *x*, since the loss is convex: it is fitted through *x* as the origin.
    """
    through = fit_linear(learner.x - x, learner.y, learner.weights, learner.C, learner.loss, offset=False)
    other = Plane(through.normal, -float(through.normal @ x))
    wrong = [learner.weights @ (plane.predict(learner.x) != learner.y) for plane in (other, learner.plane)]
    return float(wrong[0] - wrong[1]) / (learner.seen + looked)
