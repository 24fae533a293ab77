"""Adversarial instance sequences for testing the mistake bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from psm_lab.active.sphere_instances import uniform_points, unit_vector
from psm_sim.common.array_types import FloatArray

Labels = Callable[[int, int], int]
"""Callable ``(row, prediction) -> label``; the label is -1 or +1."""

SEQUENCE_KINDS = ("separable", "noisy", "skewed", "adversary", "random")


def adversarial_stream(
    kind: str,
    rng: np.random.Generator,
    rounds: int,
    features: int,
    margin: float = 0.0,
) -> tuple[FloatArray, Labels]:
    """Return instances on the unit sphere, shape (rounds, features), and their labelling function.

    Parameters
    ----------
    kind : str
        ``separable``. ``noisy``: 15 % of the labels are flipped. ``skewed``: a threshold concept without a
        constant feature. ``adversary``: each of the first 200 labels contradicts the prediction. ``random``:
        the labels are independent and equally likely.
    rng : numpy.random.Generator
        Source of the random numbers.
    rounds, features : int
        Shape of the instances.
    margin : float
        Minimum distance of an instance to the separating plane, 0 to 1.
    """
    X, u = _separated_points(rng, rounds, features, margin)
    labels = np.where(X @ u >= (0.3 if kind == "skewed" else 0.0), 1, -1)
    if kind == "noisy":
        labels[rng.random(rounds) < 0.15] *= -1
    if kind == "random":
        labels = rng.choice([-1, 1], rounds)
    n_contradicted = 200 if kind == "adversary" else 0
    return X, lambda row, prediction: -prediction if row < n_contradicted else int(labels[row])


def _separated_points(
    rng: np.random.Generator, rounds: int, features: int, margin: float
) -> tuple[FloatArray, FloatArray]:
    u, X = unit_vector(rng, features), np.empty((0, features))
    while len(X) < rounds:
        points = uniform_points(rng, rounds, features)
        X = np.concatenate([X, points[np.abs(points @ u) >= margin]])
    return X[:rounds], u
