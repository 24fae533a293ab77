"""Conditional random field on the pixels of an image, each tied to its four neighbours ([003] 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.array_types import FloatArray, IntArray
from psm_sim.errors import InputError
from psm_sim.lab.active import input_checks

_SWEEPS = 50


@dataclass(frozen=True)
class Crf:
    """Parameters of the field: P(y_i = 1 | neighbours) = sigma(w.g_i + 2 v.sum_j y_j mu_ij).

    Attributes
    ----------
    w : ndarray, shape (k + 1,)
        Association: of g_i = [1, x_i].
    v : ndarray, shape (k + 1,)
        Interaction: of mu_ij = [1, -|x_i - x_j|]; 0 without pairs.
    """

    w: FloatArray
    v: FloatArray

    @classmethod
    def zero(cls, features: int) -> Crf:
        """Return the field that knows nothing, for *features* numbers per pixel."""
        return cls(np.zeros(features + 1), np.zeros(features + 1))


class Image:
    """Image as the field sees it: one vector of numbers per pixel, and one per pair of neighbours.

    The text's mu_ij = x_i - x_j cancels over the two orders of a pair; the absolute difference and a
    constant stand in its place.

    Parameters
    ----------
    features : array_like, shape (rows, columns, k)
        The numbers of each pixel, finite.
    """

    def __init__(self, features: ArrayLike) -> None:
        x = input_checks.check_numbers(features, "the image", "its features")
        if x.ndim != 3 or not x.size:
            raise InputError(
                f"the image: its shape is {x.shape}; expected (rows, columns, features), none 0."
            )
        input_checks.check_finite(x, "the image", ("row", "column", "feature"))
        self.g = _with_one(x)
        self.across = _with_one(-np.abs(np.diff(x, axis=1)))
        self.down = _with_one(-np.abs(np.diff(x, axis=0)))
        self.shape = x.shape[:2]

    @property
    def features(self) -> int:
        """The numbers k per pixel."""
        return int(self.g.shape[2]) - 1

    def labels(self, y: ArrayLike) -> IntArray:
        """Return labels as whole numbers, shape (rows, columns), each -1 or 1."""
        found = np.asarray(y)
        if found.shape != self.shape:
            raise InputError(f"the image: its labels have shape {found.shape}; expected {self.shape}.")
        return input_checks.check_labels(found.ravel(), found.size, "the image").reshape(self.shape)

    def neighbours(self, y: IntArray) -> FloatArray:
        """Return sum_j y_j mu_ij over the neighbours of each pixel, shape (rows, columns, k + 1)."""
        return _spread(self.across, self.down, y[..., None])

    def association(self, theta: Crf) -> FloatArray:
        """Return w.g_i, shape (rows, columns)."""
        found: FloatArray = self.g @ theta.w
        return found

    def margins(self, theta: Crf, y: IntArray) -> FloatArray:
        """Return w.g_i + 2 v.sum_j y_j mu_ij, shape (rows, columns), for labels *y* of the neighbours."""
        return self.association(theta) + 2 * _spread(self.across @ theta.v, self.down @ theta.v, y)

    def segment(self, theta: Crf) -> IntArray:
        """Return the labels that iterated conditional modes ends at, shape (rows, columns), each -1 or 1.

        It starts without neighbours, sweeps like over a chessboard until nothing changes, at most 50 times;
        ties go to 1.
        """
        base = self.association(theta)
        across, down = self.across @ theta.v, self.down @ theta.v
        y = np.where(base >= 0, 1, -1)
        white = np.add.outer(np.arange(self.shape[0]), np.arange(self.shape[1])) % 2 == 0
        for _ in range(_SWEEPS if theta.v.any() else 0):
            before = y.copy()
            for colour in (white, ~white):
                better = base + 2 * _spread(across, down, y) >= 0
                y = np.where(colour, np.where(better, 1, -1), y)
            if (y == before).all():
                break
        return y

    def entropy(self, theta: Crf) -> float:
        """Return the sum over pixels of the entropy of y_i given its segmented neighbours, in nats (4.12)."""
        return float(entropies(self.margins(theta, self.segment(theta))).sum())


def standardise_images(images: Sequence[ArrayLike]) -> list[FloatArray]:
    """Return images, each of shape (rows, columns, k), with mean 0 and deviation 1 over all their pixels."""
    arrays = [input_checks.check_numbers(image, "an image", "its features") for image in images]
    pixels = np.concatenate([array.reshape(-1, array.shape[-1]) for array in arrays])
    spread = pixels.std(axis=0)
    return [(array - pixels.mean(axis=0)) / np.where(spread > 0, spread, 1.0) for array in arrays]


def entropies(margins: FloatArray) -> FloatArray:
    """Return the entropy of a label that is 1 with probability sigma(margin), in nats, elementwise."""
    from scipy.special import expit

    found: FloatArray = np.logaddexp(0, -np.abs(margins)) + np.abs(margins) * expit(-np.abs(margins))
    return found


def _spread(across: FloatArray, down: FloatArray, y: IntArray) -> FloatArray:
    """Return, for each pixel, the sum over its neighbours j of y_j times the value of their pair."""
    found = np.zeros((*y.shape[:2], *across.shape[2:]))
    found[:, :-1] += across * y[:, 1:]
    found[:, 1:] += across * y[:, :-1]
    found[:-1] += down * y[1:]
    found[1:] += down * y[:-1]
    return found


def _with_one(x: FloatArray) -> FloatArray:
    return np.concatenate([np.ones((*x.shape[:2], 1)), x], axis=2)
