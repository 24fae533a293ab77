"""Streams with a moving target: shifting and drifting half-spaces, and digit classes that change."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray
from psm_sim.common.errors import InputError
from psm_sim.common.parameters import Parameter

Stream = tuple[FloatArray, FloatArray]
"""Instances, shape (rounds, features), and labels -1.0 or 1.0, shape (rounds,)."""

_ROUNDS = Parameter("rounds", 1, at_least=1)


def shifting_stream(
    rng: np.random.Generator, rounds: int, features: int, every: int | None = None, flips: float = 0.0
) -> Stream:
    """Return Gaussian instances labelled by a Gaussian target that is resampled at intervals.

    Source: Moroshko and Crammer, section 5 (10 000 rounds, 50 features, a new target every 500 rounds).

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the random numbers.
    rounds, features : int
        Shape of the instances, each entry N(0, 1).
    every : int, optional
        Rounds between two changes of the target; None keeps the target.
    flips : float
        Share of flipped labels, 0 to 1/2.
    """
    X = rng.standard_normal((_ROUNDS.check(rounds, "stream"), features))
    periods = -(-rounds // (every or rounds))
    targets = np.repeat(rng.standard_normal((periods, features)), every or rounds, axis=0)[:rounds]
    return X, _labels(rng, X, targets, flips)


def drifting_stream(rng: np.random.Generator, rounds: int, features: int, rate: float) -> Stream:
    """Return Gaussian instances labelled by a random-walk target.

    The target moves by u <- sqrt(1 - rate^2) u + rate N(0, I) in each round.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the random numbers.
    rounds, features : int
        Shape of the instances, each entry N(0, 1).
    rate : float
        Share of the target replaced per round, 0 to 1.
    """
    X = rng.standard_normal((_ROUNDS.check(rounds, "stream"), features))
    steps = rate * rng.standard_normal((rounds, features))
    keep = np.sqrt(1 - rate * rate)
    targets, u = np.empty_like(X), rng.standard_normal(features)
    for number, step in enumerate(steps):
        u = keep * u + step
        targets[number] = u
    return X, _labels(rng, X, targets, 0.0)


def shifting_digits(
    rng: np.random.Generator, images: FloatArray, digits: ArrayLike, rounds: int, every: int = 500
) -> Stream:
    """Return images in random order, labelled by a random set of positive digits.

    The set has 1 to 9 digits and is resampled at intervals. Source: Moroshko and Crammer, section 5, with
    USPS images.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the random numbers.
    images : ndarray, shape (n, features)
        One image per row.
    digits : array_like, shape (n,)
        Digit on each image, 0 to 9.
    rounds : int
        Number of images, at most n; no image is repeated.
    every : int
        Rounds between two changes of the set.
    """
    digits = np.asarray(digits)
    if not 1 <= rounds <= len(images):
        raise InputError(f"stream: rounds must be 1 to {len(images)}, the number of images, got {rounds!r}.")
    order = rng.permutation(len(images))[:rounds]
    labels = np.empty(rounds)
    for begin in range(0, rounds, every):
        positive = rng.permutation(10)[: rng.integers(1, 10)]
        period = slice(begin, begin + every)
        labels[period] = np.where(np.isin(digits[order[period]], positive), 1.0, -1.0)
    return images[order], labels


def _labels(rng: np.random.Generator, X: FloatArray, targets: FloatArray, flips: float) -> FloatArray:
    labels = np.where(np.einsum("ij,ij->i", X, targets) >= 0, 1.0, -1.0)
    labels[rng.random(len(X)) < flips] *= -1
    return labels
