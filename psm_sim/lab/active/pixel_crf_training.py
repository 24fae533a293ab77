"""Training of the field: pseudo-likelihood of labelled images, entropy of unlabelled images ([003] 4.1).

The pseudo-likelihood of the labels is a logistic regression on [g_i, 2 s_i] with s_i = sum_j y_j mu_ij.
It is therefore concave in (w, v).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.lab.active.newton_solver import NewtonObjective, logistic_loss
from psm_sim.lab.active.pixel_crf import Crf, Image, entropies

_RIDGE = 1.0
_CONSTANT = 1e-6
_STEPS = 90


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
    """Return the ridge on w; it is tiny on the constant, which keeps a fit to one class finite."""
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
