"""Synthetic pictures of a sky over ground or water, labelled pixel by pixel.

They stand in for labelled photographs, which no package we may use brings along. They have what makes
the task one for neighbours: white skies that a colour cannot tell from light ground, and water as blue as
the sky above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from psm_sim.arrays import Floats

FEATURES = ("red", "green", "blue", "row", "gradient down", "gradient across", "deviation")

_BLUE, _WHITE = (0.45, 0.62, 0.90), (0.86, 0.88, 0.90)
_GROUND, _WATER = (0.42, 0.38, 0.26), (0.38, 0.52, 0.74)


class Picture(NamedTuple):
    """Picture: features, shape (rows, columns, 7), and labels, shape (rows, columns), +1 for sky, else -1."""

    features: Floats
    labels: NDArray[np.int64]


def sky(rng: np.random.Generator, side: int = 32) -> Picture:
    """Return one picture.

    The horizon is a random walk around a height of 30 to 70 % of the picture. The sky is blue, or white
    (40 %), and lighter towards the horizon; the ground is textured; in 40 % there is water instead of its
    upper half.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the draws come from.
    side : int
        Rows and columns, in pixels; at least 8.
    """
    horizon = _horizon(rng, side)
    rows = np.arange(side)[:, None]
    above = rows < horizon
    colour = np.where(above[..., None], _sky_colour(rng, side), _ground_colour(rng, side, horizon))
    colour = np.clip(colour, 0, 1)
    return Picture(_features(colour), np.where(above, 1, -1))


def sky_set(rng: np.random.Generator, count: int, side: int = 32) -> list[Picture]:
    """Return several pictures whose features have mean 0 and deviation 1 over the set.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the draws come from.
    count : int
        How many, at least 1.
    side : int
        Rows and columns, in pixels; at least 8.
    """
    return standardised([sky(rng, side) for _ in range(count)])


def standardised(pictures: Sequence[Picture]) -> list[Picture]:
    """Return the pictures with each feature's mean over the set taken away and divided by its deviation."""
    pixels = np.concatenate([picture.features.reshape(-1, len(FEATURES)) for picture in pictures])
    mean, deviation = pixels.mean(axis=0), pixels.std(axis=0)
    return [Picture((picture.features - mean) / deviation, picture.labels) for picture in pictures]


def _horizon(rng: np.random.Generator, side: int) -> Floats:
    walk = np.cumsum(rng.choice([-1, 0, 1], side))
    height = rng.uniform(0.3, 0.7) * side + walk - walk.mean()
    return np.asarray(np.clip(np.round(height), 2, side - 2), dtype=np.float64)


def _sky_colour(rng: np.random.Generator, side: int) -> Floats:
    base = np.array(_WHITE if rng.random() < 0.4 else _BLUE) + rng.normal(0, 0.04, 3)
    lighter = 0.12 * np.linspace(0, 1, side)[:, None, None]
    return np.asarray(base + lighter + rng.normal(0, 0.02, (side, side, 3)))


def _ground_colour(rng: np.random.Generator, side: int, horizon: Floats) -> Floats:
    light = rng.normal(0, 0.10)
    texture = rng.normal(0, 0.12, (side, side, 1)) + rng.normal(0, 0.03, (side, side, 3))
    ground = np.array(_GROUND) + light + texture
    if rng.random() >= 0.4:
        return np.asarray(ground)
    water = np.array(_WATER) + rng.normal(0, 0.04, 3) + rng.normal(0, 0.03, (side, side, 3))
    wet = np.arange(side)[:, None] < (horizon + side) / 2
    return np.where(wet[..., None], water, ground)


def _features(colour: Floats) -> Floats:
    side = len(colour)
    grey = colour.mean(axis=2)
    row = np.broadcast_to(np.linspace(0, 1, side)[:, None], (side, side))
    down, across = (np.abs(gradient) for gradient in np.gradient(grey))
    padded = np.pad(grey, 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    return np.dstack([colour, row, down, across, windows.std(axis=(2, 3))])
