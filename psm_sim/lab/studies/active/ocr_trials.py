"""Trials of the OCR study, which count labels to a test error for six combinations of rule and update."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from psm_sim.common.array_types import FloatArray
from psm_sim.common.random_streams import random_stream
from psm_sim.lab.active import make_selective
from psm_sim.lab.active.data.handwritten_digits import mnist_5k, small_digits

_R = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
_B = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
COMBINATIONS: dict[str, tuple[str, ...]] = {
    "DKM^2": tuple(f"dkm:R={R}" for R in _R),
    "DKMperc": tuple(f"dkm-perceptron:R={R},eta={eta}" for R, eta in product(_R, (0.03, 0.1, 0.3, 1.0))),
    "CBGZ_DKM": tuple(f"cbgz-reflection:b={b}" for b in _B),
    "CBGZperc": tuple(f"cbgz:b={b}" for b in _B),
    "randDKM": ("coin-reflection",),
    "randPerc": ("coin-perceptron",),
}
"""Specs of each combination, by the names of the thesis's table 4.1. Tuning chooses one of them."""

TEN = tuple(range(10))


class Problem(NamedTuple):
    """Problem of positive and negative digits, with the test error to reach.

    ``small`` selects the digits of 8 x 8 pixels. ``tuning`` and ``passes`` are the numbers of passes
    through a stream during tuning and during evaluation.
    """

    positive: tuple[int, ...]
    negative: tuple[int, ...]
    error: float
    small: bool = False
    tuning: int = 3
    passes: int = 1


def _rest(*digits: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return digits, tuple(digit for digit in TEN if digit not in digits)


def _small(positive: tuple[int, ...], negative: tuple[int, ...], error: float) -> Problem:
    return Problem(positive, negative, error, small=True, tuning=8, passes=8)


MNIST: dict[str, Problem] = {
    "0v1": Problem((0,), (1,), 0.01),
    "0vAll": Problem(*_rest(0), 0.05),
    "4v7": Problem((4,), (7,), 0.05),
    "6v9": Problem((6,), (9,), 0.025),
    "147vAll": Problem(*_rest(1, 4, 7), 0.15),
}
"""Problems of the thesis, with MNIST-5k in place of the thesis's data."""

SMALL: dict[str, Problem] = {
    "small 0vAll": _small(*_rest(0), 0.005),
    "small 3vAll": _small(*_rest(3), 0.025),
    "small 8vAll": _small(*_rest(8), 0.055),
    "small 147vAll": _small(*_rest(1, 4, 7), 0.065),
    "small odd-even": _small(*_rest(1, 3, 5, 7, 9), 0.11),
    "small 4v7": _small((4,), (7,), 0.015),
    "small 3v8": _small((3,), (8,), 0.03),
}
"""Problems on the digits of 8 x 8 pixels, with eight passes. No claim refers to them."""

FOLDS = 5
Fold = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def labels_of(
    problem: str, combination: str, reshuffles: int, seed: int, fixed: str = ""
) -> list[dict[str, Any]]:
    """Tune a combination on 30 % of a problem, and return the labels it needs on each fold of the rest.

    Parameters
    ----------
    problem : str
        Name of a problem in :data:`MNIST` or :data:`SMALL`.
    combination : str
        Name of a combination in :data:`COMBINATIONS`.
    reshuffles : int
        Number of orders of the evaluation part, each of which is split into five folds.
    seed : int
        Seed of the split, the orders and the Bernoulli draws.
    fixed : str
        Spec that is used without tuning; its tuning cost is added to the rows. If empty, tuning chooses the
        spec.
    """
    task, (X, y) = _problem(problem), _examples(problem)
    tuning, rest = np.split(random_stream(seed, f"ocr {problem}").permutation(len(X)), [round(0.3 * len(X))])
    spec = fixed or _tune(COMBINATIONS[combination], task, X[tuning], y[tuning])
    rows = []
    for number in range(reshuffles):
        order = random_stream(seed, f"ocr {problem} order", number).permutation(rest)
        for index, fold in enumerate(_folds(X[order], y[order])):
            labels = labels_until(spec, fold, task.error, task.passes, seed=seed + 100 * number + index)
            length = task.passes * len(fold[0])
            rows.append({"reshuffle": number, "fold": index, "labels": labels, "length": length})
    names = {"problem": problem, "combination": combination, "seed": seed, "spec": spec}
    if fixed:
        names["cost"] = _cost(fixed, task, X[tuning], y[tuning])
    return [{**names, **row} for row in rows]


def labels_until(spec: str, fold: Fold, error: float, passes: int, seed: int) -> float:
    """Return the number of queried labels when the test error is first reached, or NaN if it is not.

    Parameters
    ----------
    spec : str
        Spec of a sampler.
    fold : tuple of ndarray
        Training instances and labels, test instances and labels.
    error : float
        Test error to reach, evaluated after every update.
    passes : int
        Maximum number of passes through the training part.
    seed : int
        Seed of the Bernoulli draws.
    """
    X, y, tests, truth = fold
    sampler = make_selective(spec, X.shape[1], seed=seed)
    allowed = int(error * len(truth) + 1e-9)
    positive, labels = truth > 0, y.tolist()
    for _ in range(passes):
        for x, label in zip(X, labels, strict=True):
            if not sampler.ask(x).query or not sampler.tell(x, label):
                continue
            if np.count_nonzero((tests @ sampler.learner.w >= 0) != positive) <= allowed:
                return float(sampler.n_queries_)
    return float("nan")


def _tune(specs: tuple[str, ...], problem: Problem, X: FloatArray, y: FloatArray) -> str:
    """Return the spec with the lowest cost, or the first one of equals."""
    if len(specs) == 1:
        return specs[0]
    return min(specs, key=lambda spec: _cost(spec, problem, X, y))


def _cost(spec: str, problem: Problem, X: FloatArray, y: FloatArray) -> float:
    """Return the mean labels over the tuning folds; a fold that misses the error counts all its passes."""
    runs = [
        (labels_until(spec, fold, problem.error, problem.tuning, seed=index), problem.tuning * len(fold[0]))
        for index, fold in enumerate(_folds(X, y))
    ]
    return float(np.mean([length if np.isnan(labels) else labels for labels, length in runs]))


def _folds(X: FloatArray, y: FloatArray) -> Iterator[Fold]:
    parts = np.arange(len(X)) * FOLDS // len(X)
    for number in range(FOLDS):
        test = parts == number
        yield X[~test], y[~test], X[test], y[test]


def _problem(name: str) -> Problem:
    return (MNIST | SMALL)[name]


@lru_cache(maxsize=len(MNIST) + len(SMALL))
def _examples(problem: str) -> tuple[FloatArray, FloatArray]:
    task = _problem(problem)
    images, digits = small_digits() if task.small else mnist_5k()
    selected = np.isin(digits, task.positive + task.negative)
    return images[selected], np.where(np.isin(digits[selected], task.positive), 1.0, -1.0)
