"""Training of the field: pseudo-likelihood of labelled images, entropy of unlabelled ones ([003] 4.1).

The pseudo-likelihood of the labels is a logistic regression on [g_i, 2 s_i], s_i = sum_j y_j mu_ij, so it
is concave in (w, v).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from psm_sim.array_types import FloatArray, IntArray
from psm_sim.lab.active.crf import Crf, Image, entropies
from psm_sim.lab.active.newton_solver import NewtonObjective, logistic_loss

_RIDGE = 1.0
_CONSTANT = 1e-6
_ROUNDS = 3
_STEPS = 30


def fit_field(
    images: Sequence[Image], labels: Sequence[IntArray], pairs: bool = True, staged: bool = True
) -> Crf:
    """Return the field of largest penalised pseudo-likelihood.

    Parameters
    ----------
    images : sequence of Image
        At least one.
    labels : sequence of ndarray, each of the image's shape
        Their labels, -1 or 1.
    pairs : bool
        False: no interaction, a logistic regression per pixel.
    staged : bool
        Fit w without neighbours first, then v with w fixed. Jointly, the true labels of the neighbours
        explain everything, w shrinks, and the segmentation collapses to one class.
    """
    y, g, s = _stacked(images, labels)
    width = g.shape[1]
    if staged or not pairs:
        w = _logistic(g, y, _penalties(width), 0.0)
        v = _logistic(s, y, np.full(width, _RIDGE), y * (g @ w)) if pairs else np.zeros(width)
        return Crf(w, v)
    both = _logistic(np.hstack([g, s]), y, np.append(_penalties(width), np.full(width, _RIDGE)), 0.0)
    return Crf(both[:width], both[width:])


def _stacked(images: Sequence[Image], labels: Sequence[IntArray]) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return y (n,), g (n, k + 1) and 2 s (n, k + 1) of the n pixels of all images."""
    y = np.concatenate([label.ravel() for label in labels])
    g = [image.g.reshape(-1, image.g.shape[2]) for image in images]
    s = [
        image.neighbours(each).reshape(-1, image.g.shape[2])
        for image, each in zip(images, labels, strict=True)
    ]
    return y, np.vstack(g), 2 * np.vstack(s)


def _penalties(width: int) -> FloatArray:
    """Return the ridge on w: none on its constant, but for a trace that keeps one class finite."""
    return np.append(_CONSTANT, np.full(width - 1, _RIDGE))


def _logistic(rows: FloatArray, y: IntArray, ridge: FloatArray, shift: FloatArray | float) -> FloatArray:
    goal = NewtonObjective(rows * y[:, None], np.ones(y.size), logistic_loss, ridge, shift)
    return goal.least(np.zeros(rows.shape[1]))


def fit_unlabelled(image: Image, pairs: bool = False) -> Crf:
    """Return a field under which the labels of one image have little entropy (4.7), without any label.

    Little entropy alone has no optimum, and a field of zeros is stationary: so there is a ridge on all
    parameters but the constant, the search starts at the first principal direction of the pixels with the
    boundary at their mean, and ends after three rounds of segmentation and at most 30 steps.

    Parameters
    ----------
    image : Image
        The image.
    pairs : bool
        Fit v too, as the text does. Without labels v only learns to agree with itself; on our synthetic
        images the first image chosen is then no better than a random one.
    """
    theta = _principal(image)
    for _ in range(_ROUNDS if pairs else 1):
        theta = _less_entropy([], [], image, theta, pairs=pairs, steps=_STEPS if pairs else _ROUNDS * _STEPS)
    return theta


def fit_semilabelled(
    images: Sequence[Image], labels: Sequence[IntArray], image: Image, theta: Crf, gamma: float = 1.0
) -> Crf:
    """Return the field after w has also made the labels of one more image more certain (4.8).

    Parameters
    ----------
    images, labels
        As for :func:`fit_field`.
    image : Image
        The image without labels.
    theta : Crf
        The field fitted to the labelled images: where w starts, and its v.
    gamma : float
        What the entropy of the image without labels counts, 0 or more.
    """
    return _less_entropy(images, labels, image, theta, gamma=gamma)


def _principal(image: Image) -> Crf:
    """Return the field along the first principal direction; its largest component is positive."""
    x = image.g[:, :, 1:].reshape(-1, image.features)
    direction = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2][0]
    direction = direction * np.sign(direction[np.abs(direction).argmax()])
    w = np.append(-float(x.mean(axis=0) @ direction), direction)
    return Crf(w, np.zeros_like(w))


def _less_entropy(
    images: Sequence[Image],
    labels: Sequence[IntArray],
    image: Image,
    theta: Crf,
    pairs: bool = False,
    gamma: float = 1.0,
    steps: int = _STEPS,
) -> Crf:
    """Return the field after some steps of L-BFGS on loss and entropy, the neighbours' labels held fixed."""
    from scipy.optimize import minimize
    from scipy.special import expit

    g = image.g.reshape(-1, theta.w.size)
    s = 2 * image.neighbours(image.segment(theta)).reshape(g.shape)
    rows = np.hstack([g, s]) if pairs else g
    shift = 0.0 if pairs else s @ theta.v
    known = _labelled_goal(images, labels, theta, rows.shape[1])

    def goal(u: FloatArray) -> tuple[float, FloatArray]:
        margins = rows @ u + shift
        value, slope = known.slope(u)
        fall = -margins * expit(margins) * expit(-margins)
        return value + gamma * float(entropies(margins).sum()), slope + gamma * (fall @ rows)

    start = np.append(theta.w, theta.v)[: rows.shape[1]]
    found = minimize(goal, start, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
    return Crf(found[: theta.w.size], found[theta.w.size :] if pairs else theta.v)


def _labelled_goal(
    images: Sequence[Image], labels: Sequence[IntArray], theta: Crf, width: int
) -> NewtonObjective:
    """Return the penalised loss of the labelled images as a function of w, v held; only the ridge if none."""
    ridge = np.append(_penalties(theta.w.size), np.full(width - theta.w.size, _RIDGE))
    if not images:
        return NewtonObjective(np.empty((0, width)), np.empty(0), logistic_loss, ridge)
    y, g, s = _stacked(images, labels)
    return NewtonObjective(g * y[:, None], np.ones(y.size), logistic_loss, ridge, y * (s @ theta.v))
