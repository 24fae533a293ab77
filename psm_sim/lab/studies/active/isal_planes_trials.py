"""Trials of ISALg and other samplers with planes, and of the rounds of ISALn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.random_streams import random_stream
from psm_sim.lab.active.angle_constrained_fit import angle_between
from psm_sim.lab.active.data.simulated_neuron import SimulatedNeuron
from psm_sim.lab.active.gaussian_instances import Gaussian
from psm_sim.lab.active.isaln_plane_learner import Isaln
from psm_sim.lab.active.linear_separator import fit_linear
from psm_sim.lab.active.plane_learner import PlaneLearner
from psm_sim.lab.active.samplers import GaussianSampler

LABELS = (20, 50, 100, 200)
COLUMNS = [f"{labels} labels" for labels in LABELS]
SAMPLERS = {
    "random": "random",
    "BI": "bi",
    "MI": "mi",
    "ISALg": "isalg",
    "ISALg, cap .4": "isalg:cap=0.4",
    "ISALg parallel, cap .4": "isalg:cap=0.4,shape=parallel",
    "ISALg, weights off": "isalg:weighted=false,cap=0.4,eta=0",
    "ISALg literal": "isalg:density=literal",
    "IWAL2": "iwal2",
}
_FEATURES, _DRAWS, _FLIPS = 10, 200, 0.15


def curve_of(flips: float, sampler: str, seed: int) -> list[dict[str, Any]]:
    """Return the errors of one learner after each number of labels, one row.

    Parameters
    ----------
    flips : float
        Share of flipped labels.
    sampler : str
        Name of a sampler in :data:`SAMPLERS`.
    seed : int
        Seed of the learner, the answers and the test instances.
    """
    neuron, answers = SimulatedNeuron(flips=flips), random_stream(seed, "answers")
    test = neuron.population.draw(random_stream(seed, "test instances"), 4000)
    truth, learner = neuron.truth(test), PlaneLearner(SAMPLERS[sampler], neuron.population, seed=seed)
    errors = {}
    for labels, column in zip(LABELS, COLUMNS, strict=True):
        learner.run(lambda x: int(neuron.answer(x[None], answers)[0]), labels)
        errors[column] = float(np.mean(learner.predict(test) != truth))
    return [{"setting": f"{flips:.0%} flips: {sampler}".replace("%", " %"), "seed": seed, **errors}]


def rounds_of(seed: int) -> list[dict[str, Any]]:
    """Return the errors of ISALn after 1 to 6 rounds, as printed and tuned, and of equally many labels.

    The labels of the third learner are passive, at points from the population.
    """
    rng, population = random_stream(seed, "isaln answers"), Gaussian.standard(_FEATURES)
    target = rng.standard_normal(_FEATURES)

    def oracle(x: FloatArray) -> int:
        return 1 if (x @ target >= 0) == (rng.random() >= _FLIPS) else -1

    beta, narrow = (1 - 2 * _FLIPS) / 4, GaussianSampler(weighted=False)
    printed = Isaln(population, _DRAWS, beta, seed=seed)
    tuned = Isaln(population, _DRAWS, beta, scale=0.1, sampler=narrow, seed=seed)
    x, rows = population.draw(rng, 6 * _DRAWS), []
    y = [oracle(instance) for instance in x]
    for count in range(1, 7):
        first = slice(count * _DRAWS)
        planes = (
            printed.run(oracle, count),
            tuned.run(oracle, count),
            fit_linear(x[first], y[first], offset=False),
        )
        errors = [angle_between(plane.normal, target) / math.pi for plane in planes]
        rows.append({"round": count, **dict(zip(("as printed", "tuned", "passive"), errors, strict=True))})
    return rows
