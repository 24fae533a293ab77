"""Trials of the OCR study: labels until the test error is small, for six combinations of rule and update."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from psm_sim.array_types import FloatArray
from psm_sim.lab.active import make_selective
from psm_sim.lab.active.data.mnist import mnist_5k, small_digits
from psm_sim.random_streams import random_stream

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
"""The specs to choose from, by the names of the thesis's table 4.1."""

TEN = tuple(range(10))


class Problem(NamedTuple):
    """Positive digits against negative ones, and the test error to reach.

    ``small`` says that the digits have 8 x 8 pixels; ``tuning`` and ``passes`` are how often a stream is
    gone through, while tuning and to count labels.
    """

    positive: tuple[int, ...]
    negative: tuple[int, ...]
    error: float
    small: bool = False
    tuning: int = 3
    passes: int = 1


def _rest(*digits: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return digits, tuple(each for each in TEN if each not in digits)


def _small(positive: tuple[int, ...], negative: tuple[int, ...], error: float) -> Problem:
    return Problem(positive, negative, error, small=True, tuning=8, passes=8)


MNIST: dict[str, Problem] = {
    "0v1": Problem((0,), (1,), 0.01),
    "0vAll": Problem(*_rest(0), 0.05),
    "4v7": Problem((4,), (7,), 0.05),
    "6v9": Problem((6,), (9,), 0.025),
    "147vAll": Problem(*_rest(1, 4, 7), 0.15),
}
"""Problems of the thesis that MNIST-5k stands in for."""

SMALL: dict[str, Problem] = {
    "small 0vAll": _small(*_rest(0), 0.005),
    "small 3vAll": _small(*_rest(3), 0.025),
    "small 8vAll": _small(*_rest(8), 0.055),
    "small 147vAll": _small(*_rest(1, 4, 7), 0.065),
    "small odd-even": _small(*_rest(1, 3, 5, 7, 9), 0.11),
    "small 4v7": _small((4,), (7,), 0.015),
    "small 3v8": _small((3,), (8,), 0.03),
}
"""Problems on the digits of 8 x 8 pixels: small and easy, gone through eight times, nothing claimed."""

FOLDS = 5
Fold = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def labels_of(
    problem: str, combination: str, reshuffles: int, seed: int, fixed: str = ""
) -> list[dict[str, Any]]:
    """Tune a combination on 30 % of a problem, then return the labels it needs on each fold of the rest.

    Parameters
    ----------
    problem : str
        Of :data:`MNIST` or :data:`SMALL`.
    combination : str
        Of :data:`COMBINATIONS`.
    reshuffles : int
        Orders of the evaluation part, each cut into five folds.
    seed : int
        Of the split, the orders and the coins.
    fixed : str
        The spec to take without tuning, whose cost while tuning is told too; empty, the one that tuning
        chooses.
    """
    about, (X, y) = _problem(problem), _examples(problem)
    tuning, rest = np.split(random_stream(seed, f"ocr {problem}").permutation(len(X)), [round(0.3 * len(X))])
    spec = fixed or _tuned(COMBINATIONS[combination], about, X[tuning], y[tuning])
    rows = []
    for number in range(reshuffles):
        mixed = random_stream(seed, f"ocr {problem} order", number).permutation(rest)
        for place, fold in enumerate(_folds(X[mixed], y[mixed])):
            labels = labels_until(spec, fold, about.error, about.passes, seed=seed + 100 * number + place)
            length = about.passes * len(fold[0])
            rows.append({"reshuffle": number, "fold": place, "labels": labels, "length": length})
    names = {"problem": problem, "combination": combination, "seed": seed, "spec": spec}
    if fixed:
        names["cost"] = _cost(fixed, about, X[tuning], y[tuning])
    return [{**names, **row} for row in rows]


def labels_until(spec: str, fold: Fold, error: float, passes: int, seed: int) -> float:
    """Return the labels bought when the test error is first small enough, NaN if it never is.

    Parameters
    ----------
    spec : str
        Of a sampler.
    fold : tuple of ndarray
        Training instances and labels, test instances and labels.
    error : float
        Test error to reach; looked at after every update.
    passes : int
        Times through the training part at most.
    seed : int
        Of the coin.
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


def _tuned(specs: tuple[str, ...], about: Problem, X: FloatArray, y: FloatArray) -> str:
    """Return the spec of least mean labels over the folds, the first of equals."""
    if len(specs) == 1:
        return specs[0]
    return min(specs, key=lambda each: _cost(each, about, X, y))


def _cost(spec: str, about: Problem, X: FloatArray, y: FloatArray) -> float:
    """Return the mean labels over the tuning folds; one that never arrives counts all its passes."""
    found = [
        (labels_until(spec, fold, about.error, about.tuning, seed=place), about.tuning * len(fold[0]))
        for place, fold in enumerate(_folds(X, y))
    ]
    return float(np.mean([length if np.isnan(labels) else labels for labels, length in found]))


def _folds(X: FloatArray, y: FloatArray) -> Iterator[Fold]:
    parts = np.arange(len(X)) * FOLDS // len(X)
    for place in range(FOLDS):
        test = parts == place
        yield X[~test], y[~test], X[test], y[test]


def _problem(name: str) -> Problem:
    return (MNIST | SMALL)[name]


@lru_cache(maxsize=len(MNIST) + len(SMALL))
def _examples(problem: str) -> tuple[FloatArray, FloatArray]:
    about = _problem(problem)
    images, digits = small_digits() if about.small else mnist_5k()
    chosen = np.isin(digits, about.positive + about.negative)
    return images[chosen], np.where(np.isin(digits[chosen], about.positive), 1.0, -1.0)
