"""Conditional random field on a pixel grid with four neighbours per pixel, and its training ([003] 4.1).

The pseudo-likelihood of the labels is a logistic regression on [g_i, 2 s_i] with s_i = sum_j y_j mu_ij.
It is therefore concave in (w, v).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from psm_lab.active import input_checks
from psm_lab.active.newton_solver import NewtonObjective, logistic_loss
from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.errors import InputError

_SWEEPS = 50  # limit, because two colours can alternate forever; 17,000 images of the tests need at most 18
_RIDGE = 1.0  # unit Gaussian prior
_CONSTANT = 1e-6  # ridge on the constant feature, see _penalties
_STEPS = 90  # limit, equal to three L-BFGS rounds of 30 in the reference program


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


def fit_field(
    images: Sequence[Image], labels: Sequence[IntArray], pairs: bool = True, staged: bool = True
) -> Crf:
    """Return the field with the largest penalised pseudo-likelihood.

    Parameters
    ----------
    images : sequence of Image
        At least one image.
    labels : sequence of ndarray, each of the image's shape
        Labels of the images, -1 or 1.
    pairs : bool
        Whether neighbours interact; False fits a logistic regression per pixel.
    staged : bool
        Fit w without neighbours first, then v with fixed w. In a joint fit the true labels of the neighbours
        explain everything, so w shrinks and the segmentation collapses to one class.
    """
    y, g, s = _stack_pixels(images, labels)
    width = g.shape[1]
    if staged or not pairs:
        w = _logistic(g, y, _penalties(width), 0.0)
        v = _logistic(s, y, np.full(width, _RIDGE), y * (g @ w)) if pairs else np.zeros(width)
        return Crf(w, v)
    both = _logistic(np.hstack([g, s]), y, np.append(_penalties(width), np.full(width, _RIDGE)), 0.0)
    return Crf(both[:width], both[width:])


def _stack_pixels(
    images: Sequence[Image], labels: Sequence[IntArray]
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return y (n,), g (n, k + 1) and 2 s (n, k + 1) of the n pixels of all images."""
    y = np.concatenate([label.ravel() for label in labels])
    g = [image.g.reshape(-1, image.g.shape[2]) for image in images]
    s = [
        image.neighbours(label).reshape(-1, image.g.shape[2])
        for image, label in zip(images, labels, strict=True)
    ]
    return y, np.vstack(g), 2 * np.vstack(s)


def _penalties(width: int) -> FloatArray:
    """Return the ridge on w. A tiny ridge on the constant keeps a fit to a single class finite."""
    return np.append(_CONSTANT, np.full(width - 1, _RIDGE))


def _logistic(rows: FloatArray, y: IntArray, ridge: FloatArray, shift: FloatArray | float) -> FloatArray:
    objective = NewtonObjective(rows * y[:, None], np.ones(y.size), logistic_loss, ridge, shift)
    return objective.minimise(np.zeros(rows.shape[1]))


def fit_unlabelled(image: Image) -> Crf:
    """Return a field without pairs under which the labels of one unlabelled image have low entropy (4.7).

    [003] fits v too, but without labels v only learns to agree with itself. Entropy alone has no minimum, and
    a field of zeros is stationary. Therefore all parameters but the constant have a ridge, and the search
    starts at the first principal direction of the pixels, with the boundary at their mean.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    theta = _principal_field(image)
    g, ridge = image.g.reshape(-1, theta.w.size), _penalties(theta.w.size)

    def objective(w: FloatArray) -> tuple[float, FloatArray]:
        margins, penalty = g @ w, ridge * w
        entropy_slope = -margins * expit(margins) * expit(-margins)
        return float(w @ penalty / 2) + float(entropies(margins).sum()), penalty + entropy_slope @ g

    w = minimize(objective, theta.w, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}).x
    return Crf(w, theta.v)


def _principal_field(image: Image) -> Crf:
    """Return the field along the first principal direction; its largest component is positive."""
    x = image.g[:, :, 1:].reshape(-1, image.features)
    direction = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2][0]
    direction = direction * np.sign(direction[np.abs(direction).argmax()])
    w = np.append(-float(x.mean(axis=0) @ direction), direction)
    return Crf(w, np.zeros_like(w))
