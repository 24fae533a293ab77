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
_ROUNDS = 3
_STEPS = 30


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


def fit_unlabelled(image: Image, pairs: bool = False) -> Crf:
    """Return a field under which the labels of one unlabelled image have low entropy (4.7).

    Entropy alone has no minimum, and a field of zeros is stationary. Therefore all parameters but the
    constant have a ridge. The search starts at the first principal direction of the pixels with the boundary
    at their mean. It ends after three rounds of segmentation with at most 30 steps each.

    Parameters
    ----------
    image : Image
        The image.
    pairs : bool
        Fit v too, as [003] does. Without labels v only learns to agree with itself. On our synthetic images
        the first image chosen is then no better than a random one.
    """
    theta = _principal_field(image)
    for _ in range(_ROUNDS if pairs else 1):
        theta = _minimise_entropy(
            [], [], image, theta, pairs=pairs, steps=_STEPS if pairs else _ROUNDS * _STEPS
        )
    return theta


def fit_semilabelled(
    images: Sequence[Image], labels: Sequence[IntArray], image: Image, theta: Crf, gamma: float = 1.0
) -> Crf:
    """Return the field after fitting w to labelled images and to the entropy of one more image (4.8).

    Parameters
    ----------
    images, labels
        See :func:`fit_field`.
    image : Image
        Image without labels.
    theta : Crf
        Field fitted to the labelled images: the start of w, and the fixed v.
    gamma : float
        Weight of the entropy of the unlabelled image, 0 or more.
    """
    return _minimise_entropy(images, labels, image, theta, gamma=gamma)


def _principal_field(image: Image) -> Crf:
    """Return the field along the first principal direction; its largest component is positive."""
    x = image.g[:, :, 1:].reshape(-1, image.features)
    direction = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2][0]
    direction = direction * np.sign(direction[np.abs(direction).argmax()])
    w = np.append(-float(x.mean(axis=0) @ direction), direction)
    return Crf(w, np.zeros_like(w))


def _minimise_entropy(
    images: Sequence[Image],
    labels: Sequence[IntArray],
    image: Image,
    theta: Crf,
    pairs: bool = False,
    gamma: float = 1.0,
    steps: int = _STEPS,
) -> Crf:
    """Return the field after L-BFGS steps on loss and entropy, with fixed labels of the neighbours.

    See :func:`fit_semilabelled` for *images*, *labels*, *image*, *theta* and *gamma*, and :func:`fit_field`
    for *pairs*; *steps* is the maximum number of iterations.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    g = image.g.reshape(-1, theta.w.size)
    s = 2 * image.neighbours(image.segment(theta)).reshape(g.shape)
    rows = np.hstack([g, s]) if pairs else g
    shift = 0.0 if pairs else s @ theta.v
    labelled = _labelled_objective(images, labels, theta, rows.shape[1])

    def objective(u: FloatArray) -> tuple[float, FloatArray]:
        margins = rows @ u + shift
        value, slope = labelled.slope(u)
        entropy_slope = -margins * expit(margins) * expit(-margins)
        return value + gamma * float(entropies(margins).sum()), slope + gamma * (entropy_slope @ rows)

    start = np.append(theta.w, theta.v)[: rows.shape[1]]
    parameters = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
    return Crf(parameters[: theta.w.size], parameters[theta.w.size :] if pairs else theta.v)


def _labelled_objective(
    images: Sequence[Image], labels: Sequence[IntArray], theta: Crf, width: int
) -> NewtonObjective:
    """Return the penalised loss of the labelled images as a function of w, with fixed v.

    Without images it is the ridge alone. See :func:`fit_field` for *images* and *labels*; *theta* is the
    field with the fixed v, and *width* the number of parameters.
    """
    ridge = np.append(_penalties(theta.w.size), np.full(width - theta.w.size, _RIDGE))
    if not images:
        return NewtonObjective(np.empty((0, width)), np.empty(0), logistic_loss, ridge)
    y, g, s = _stack_pixels(images, labels)
    return NewtonObjective(g * y[:, None], np.ones(y.size), logistic_loss, ridge, y * (s @ theta.v))
