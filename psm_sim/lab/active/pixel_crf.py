"""Conditional random field on a pixel grid with four neighbours per pixel ([003] 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.errors import InputError
from psm_sim.lab.active import input_checks

_SWEEPS = 50


@dataclass(frozen=True)
class Crf:
    """Parameters of the field P(y_i = 1 | neighbours) = sigma(w.g_i + 2 v.sum_j y_j mu_ij).

    Attributes
    ----------
    w : ndarray, shape (k + 1,)
        Association weights of g_i = [1, x_i].
    v : ndarray, shape (k + 1,)
        Interaction weights of mu_ij = [1, -|x_i - x_j|]; 0 without pairs.
    """

    w: FloatArray
    v: FloatArray

    @classmethod
    def zero(cls, features: int) -> Crf:
        """Return the field with all parameters 0, for *features* features per pixel."""
        return cls(np.zeros(features + 1), np.zeros(features + 1))


class Image:
    """Features of the pixels of an image and of its pairs of neighbours.

    [003] defines mu_ij = x_i - x_j, which cancels over the two orders of a pair. This implementation uses the
    absolute difference and a constant instead.

    Parameters
    ----------
    features : array_like, shape (rows, columns, k)
        Features of each pixel; all numbers must be finite.
    """

    def __init__(self, features: ArrayLike) -> None:
        x = input_checks.check_numbers(features, "the image", "its features")
        if x.ndim != 3 or not x.size:
            raise InputError(
                f"the image must have shape (rows, columns, features), all at least 1, got {x.shape}."
            )
        input_checks.check_finite(x, "the image", ("row", "column", "feature"))
        self.g = _prepend_one(x)
        self.across = _prepend_one(-np.abs(np.diff(x, axis=1)))
        self.down = _prepend_one(-np.abs(np.diff(x, axis=0)))
        self.shape = x.shape[:2]

    @property
    def features(self) -> int:
        """Number k of features per pixel."""
        return int(self.g.shape[2]) - 1

    def labels(self, y: ArrayLike) -> IntArray:
        """Return labels as integers, shape (rows, columns), each -1 or 1."""
        labels = np.asarray(y)
        if labels.shape != self.shape:
            raise InputError(f"the image: the labels must have shape {self.shape}, got {labels.shape}.")
        return input_checks.check_labels(labels.ravel(), labels.size, "the image").reshape(self.shape)

    def neighbours(self, y: IntArray) -> FloatArray:
        """Return sum_j y_j mu_ij over the neighbours of each pixel, shape (rows, columns, k + 1)."""
        return _sum_over_neighbours(self.across, self.down, y[..., None])

    def association(self, theta: Crf) -> FloatArray:
        """Return w.g_i, shape (rows, columns)."""
        values: FloatArray = self.g @ theta.w
        return values

    def margins(self, theta: Crf, y: IntArray) -> FloatArray:
        """Return w.g_i + 2 v.sum_j y_j mu_ij, shape (rows, columns), for labels *y* of the neighbours."""
        return self.association(theta) + 2 * _sum_over_neighbours(
            self.across @ theta.v, self.down @ theta.v, y
        )

    def segment(self, theta: Crf) -> IntArray:
        """Return the labels after iterated conditional modes, shape (rows, columns), each -1 or 1.

        The first labels ignore the neighbours. Then the two colours of a chessboard are updated in turn until
        nothing changes, at most 50 times. Ties go to 1.
        """
        base = self.association(theta)
        across, down = self.across @ theta.v, self.down @ theta.v
        y = np.where(base >= 0, 1, -1)
        white = np.add.outer(np.arange(self.shape[0]), np.arange(self.shape[1])) % 2 == 0
        for _ in range(_SWEEPS if theta.v.any() else 0):
            before = y.copy()
            for colour in (white, ~white):
                is_positive = base + 2 * _sum_over_neighbours(across, down, y) >= 0
                y = np.where(colour, np.where(is_positive, 1, -1), y)
            if (y == before).all():
                break
        return y

    def entropy(self, theta: Crf) -> float:
        """Return the summed entropy of all y_i given their segmented neighbours, in nats (4.12)."""
        return float(entropies(self.margins(theta, self.segment(theta))).sum())


def standardise_images(images: Sequence[ArrayLike]) -> list[FloatArray]:
    """Return images of shape (rows, columns, k), standardised over the pixels of all images."""
    arrays = [input_checks.check_numbers(image, "an image", "its features") for image in images]
    pixels = np.concatenate([array.reshape(-1, array.shape[-1]) for array in arrays])
    spread = pixels.std(axis=0)
    return [(array - pixels.mean(axis=0)) / np.where(spread > 0, spread, 1.0) for array in arrays]


def entropies(margins: FloatArray) -> FloatArray:
    """Return the entropy of labels with P(1) = sigma(margin), in nats, elementwise."""
    from scipy.special import expit

    values: FloatArray = np.logaddexp(0, -np.abs(margins)) + np.abs(margins) * expit(-np.abs(margins))
    return values


def _sum_over_neighbours(across: FloatArray, down: FloatArray, y: IntArray) -> FloatArray:
    """Return, for each pixel, the sum over its neighbours j of y_j times the value of the pair."""
    sums = np.zeros((*y.shape[:2], *across.shape[2:]))
    sums[:, :-1] += across * y[:, 1:]
    sums[:, 1:] += across * y[:, :-1]
    sums[:-1] += down * y[1:]
    sums[1:] += down * y[:-1]
    return sums


def _prepend_one(x: FloatArray) -> FloatArray:
    return np.concatenate([np.ones((*x.shape[:2], 1)), x], axis=2)
