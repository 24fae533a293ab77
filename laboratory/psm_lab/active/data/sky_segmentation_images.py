"""Synthetic photographs with sky, instead of the Geometric Context images of [003] 4.3.1.

Each image has a random-walk horizon, blue or white sky and textured ground. Some images have water of the
colour of the sky below the horizon. The images reproduce the difficulties of the published task, but they
are not photographs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from psm_lab.active.pixel_crf import standardise_images
from psm_sim.common.array_types import BoolArray, FloatArray, IntArray

# Colours of the sky, and shares of images with white sky and with water. They have no published source.
_BLUE, _WHITE = np.array([0.45, 0.62, 0.88]), np.array([0.86, 0.87, 0.89])
_WHITE_SHARE, _WATER_SHARE = 0.4, 0.4


class Photograph(NamedTuple):
    """Seven features per pixel, shape (size, size, 7), and labels, shape (size, size), 1 for sky."""

    features: FloatArray
    labels: IntArray


def synthetic_sky(rng: np.random.Generator, size: int = 32) -> Photograph:
    """Return one image of *size* by *size* pixels.

    The features are red, green and blue (0 to 1), the row (0 at the top, 1 at the bottom), the vertical and
    horizontal gradients of the brightness, and the standard deviation of the brightness within 3 by 3 pixels.
    The features are not standardised.
    """
    horizon = np.clip(size * rng.uniform(0.3, 0.7) + np.cumsum(rng.normal(0, 0.03 * size, size)), 2, size - 2)
    rows = np.arange(size)[:, None]
    above = rows < horizon
    colours = np.where(above[:, :, None], _sky(rng, size), _ground(rng, size))
    if rng.random() < _WATER_SHARE:
        shore = horizon + (size - horizon) * rng.uniform(0.2, 0.8)
        colours = np.where((rows >= shore)[:, :, None], _water(rng, colours, above, size), colours)
    colours = np.clip(colours + rng.normal(0, 0.02, colours.shape), 0, 1)
    return Photograph(_features(colours), np.where(above, 1, -1))


def synthetic_sky_set(rng: np.random.Generator, n: int, size: int = 32) -> list[Photograph]:
    """Return *n* images with each feature standardised over the set.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the random numbers.
    n : int
        Number of images, at least 1.
    size : int
        Pixels per side.
    """
    images = [synthetic_sky(rng, size) for _ in range(n)]
    scaled = standardise_images([image.features for image in images])
    return [Photograph(x, image.labels) for x, image in zip(scaled, images, strict=True)]


def _sky(rng: np.random.Generator, size: int) -> FloatArray:
    """Return sky colours: white or blue, brighter towards the horizon, with soft clouds."""
    white = rng.random() < _WHITE_SHARE
    colour = (_WHITE if white else _BLUE) + rng.normal(0, 0.04, 3)
    haze = np.linspace(0, rng.uniform(0, 0.12), size)[:, None, None]
    clouds = rng.uniform(0, 0.05) * _smooth(rng, (size, size), size / 8)[:, :, None]
    return colour + haze + clouds


def _ground(rng: np.random.Generator, size: int) -> FloatArray:
    """Return ground colours: a random dull colour with coarse patches and fine texture."""
    colour = rng.uniform(0.2, 0.55) + rng.normal(0, 0.07, 3)
    patches = rng.uniform(0.05, 0.12) * _smooth(rng, (size, size), size / 10)[:, :, None]
    grain = rng.uniform(0.03, 0.1) * _smooth(rng, (size, size), 0.5)[:, :, None]
    return colour + patches + grain


def _water(rng: np.random.Generator, colours: FloatArray, above: BoolArray, size: int) -> FloatArray:
    """Return water colours: the mean sky colour, darker, with ripples along the rows."""
    mirrored = colours[above].mean(axis=0) * rng.uniform(0.75, 1.0)
    ripples = rng.uniform(0.01, 0.06) * rng.standard_normal((size, 1, 1))
    return np.broadcast_to(mirrored + ripples, (size, size, 3))


def _smooth(rng: np.random.Generator, shape: tuple[int, int], width: float) -> FloatArray:
    """Return Gaussian noise smoothed over *width* pixels, with standard deviation 1."""
    from scipy.ndimage import gaussian_filter

    noise: FloatArray = gaussian_filter(rng.standard_normal(shape), width)
    noise /= noise.std()
    return noise


def _features(colours: FloatArray) -> FloatArray:
    from scipy.ndimage import uniform_filter

    size = len(colours)
    bright = colours.mean(axis=2)
    gradients = [np.abs(gradient) for gradient in np.gradient(bright)]
    mean, square = uniform_filter(bright, 3), uniform_filter(bright**2, 3)
    deviation = np.sqrt(np.maximum(square - mean**2, 0))
    row = np.broadcast_to(np.linspace(0, 1, size)[:, None], (size, size))
    return np.dstack([colours, row, *gradients, deviation])
