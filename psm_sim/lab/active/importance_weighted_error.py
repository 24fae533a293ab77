"""Importance-weighted error of thresholds on instances not sampled from p ([003] 5.2, 5.2.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from psm_sim.common.array_types import FloatArray, IntArray
from psm_sim.common.errors import InputError
from psm_sim.lab.active import input_checks


def weighted_error(predictions: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the mean of (p/q)(x_i) 1[h(x_i) != y_i], an unbiased estimate of the error under p.

    The estimate stays unbiased if each q depends on the earlier labels, as long as q > 0 wherever p > 0
    ([003] Lemma 1).

    Parameters
    ----------
    predictions, y : array_like, shape (n,)
        Predicted and queried labels, -1 or 1.
    weights : array_like, shape (n,), optional
        p(x_i) / q_i(x_i), 0 or more (default: all 1).
    """
    n, owner = np.size(y), "weighted_error"
    if not n:
        raise InputError(f"{owner}: y must have at least 1 label, got 0.")
    wrong = input_checks.check_labels(predictions, n, owner) != input_checks.check_labels(y, n, owner)
    return float((input_checks.check_weights(weights, n, owner) * wrong).sum() / n)


class ErrorProfile(NamedTuple):
    """Weighted error of every threshold, as a step function of the threshold.

    Attributes
    ----------
    edges : ndarray, shape (n + 2,)
        Ends of the interval and the n instances between them, in ascending order.
    errors : ndarray, shape (n + 1,)
        Weighted error of a threshold between two neighbouring edges.
    best : int
        Index of the step with the least error; the widest one if several are equal.
    """

    edges: FloatArray
    errors: FloatArray
    best: int

    @property
    def threshold(self) -> float:
        """Middle of the best step."""
        return float(self.edges[self.best : self.best + 2].mean())

    @property
    def alternative(self) -> FloatArray:
        """Least error of the thresholds that disagree with the best one, per step, shape (n + 1,)."""
        falling = np.minimum.accumulate(self.errors)[: self.best]
        rising = np.minimum.accumulate(self.errors[::-1])[::-1][self.best :]
        return np.concatenate([falling, rising])


def error_profile(x: FloatArray, y: IntArray, weights: FloatArray, low: float, high: float) -> ErrorProfile:
    """Return the weighted error of all thresholds on [low, high].

    Parameters
    ----------
    x : ndarray, shape (n,)
        Instances between *low* and *high*.
    y : ndarray, shape (n,)
        Labels, -1 or 1; a threshold predicts 1 for instances at or above it.
    weights : ndarray, shape (n,)
        Importance weights.
    low, high : float
        Ends of the interval.
    """
    order = np.argsort(x, kind="stable")
    shares = weights[order] / max(len(x), 1)
    below = np.concatenate([[0.0], np.cumsum(shares * (y[order] > 0))])
    above = np.concatenate([np.cumsum((shares * (y[order] < 0))[::-1])[::-1], [0.0]])
    errors, edges = below + above, np.concatenate([[low], x[order], [high]])
    widths = np.where(errors <= errors.min() + 1e-12, np.diff(edges), -1.0)
    return ErrorProfile(edges, errors, int(widths.argmax()))
