"""Hostile streams: what puts the theorems for any sequence to the test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.lab.active.unit_sphere import uniform_points, unit_vector

Labels = Callable[[int, int], int]
"""Gives the label, -1 or +1, of a row that was predicted: (row, prediction) -> label."""

KINDS = ("separable", "noisy", "skewed", "adversary", "random")


def adversarial_stream(
    kind: str,
    rng: np.random.Generator,
    rounds: int,
    features: int,
    margin: float = 0.0,
    contradicted: int = 200,
) -> tuple[FloatArray, Labels]:
    """Return instances, shape (rounds, features), on the unit sphere, and what labels them.

    Parameters
    ----------
    kind : str
        ``separable``; ``noisy``: 15 % flipped; ``skewed``: a threshold concept, but no constant feature;
        ``adversary``: the first predictions are contradicted, whatever they are; ``random``: fair coins.
    rng : numpy.random.Generator
        Where the draws come from.
    rounds, features : int
        The shape of the instances.
    margin : float
        Least distance to the separating plane of any instance, 0 to 1.
    contradicted : int
        How many predictions the adversary contradicts.
    """
    X, u = _apart(rng, rounds, features, margin)
    labels = np.where(X @ u >= (0.3 if kind == "skewed" else 0.0), 1, -1)
    if kind == "noisy":
        labels[rng.random(rounds) < 0.15] *= -1
    if kind == "random":
        labels = rng.choice([-1, 1], rounds)
    until = contradicted if kind == "adversary" else 0
    return X, lambda row, prediction: -prediction if row < until else int(labels[row])


def _apart(
    rng: np.random.Generator, rounds: int, features: int, margin: float
) -> tuple[FloatArray, FloatArray]:
    u, X = unit_vector(rng, features), np.empty((0, features))
    while len(X) < rounds:
        points = uniform_points(rng, rounds, features)
        X = np.concatenate([X, points[np.abs(points @ u) >= margin]])
    return X[:rounds], u
