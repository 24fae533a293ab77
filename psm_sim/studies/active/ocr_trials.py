"""Trials of the OCR study: labels until the test error is small, for six combinations of rule and update."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from psm_sim.active import make_selective
from psm_sim.active.data.mnist import mnist_5k
from psm_sim.arrays import Floats
from psm_sim.randomness import stream

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

PROBLEMS: dict[str, tuple[tuple[int, ...], tuple[int, ...], float]] = {
    "0v1": ((0,), (1,), 0.01),
    "0vAll": ((0,), tuple(range(1, 10)), 0.05),
    "4v7": ((4,), (7,), 0.05),
    "6v9": ((6,), (9,), 0.025),
    "147vAll": ((1, 4, 7), (0, 2, 3, 5, 6, 8, 9), 0.15),
}
"""Positive digits, negative digits, and the test error to reach."""

FOLDS, PASSES = 5, 3
Fold = tuple[Floats, Floats, Floats, Floats]


def labels_of(problem: str, combination: str, reshuffles: int, seed: int) -> list[dict[str, Any]]:
    """Tune a combination on 30 % of a problem, then return the labels it needs on each fold of the rest.

    Parameters
    ----------
    problem : str
        Of :data:`PROBLEMS`.
    combination : str
        Of :data:`COMBINATIONS`.
    reshuffles : int
        Orders of the evaluation part, each cut into five folds.
    seed : int
        Of the split, the orders and the coins.
    """
    error = PROBLEMS[problem][2]
    X, y = _examples(problem)
    order = stream(seed, f"ocr {problem}").permutation(len(X))
    tuning, rest = np.split(order, [round(0.3 * len(X))])
    specs = COMBINATIONS[combination]
    spec = (
        specs[0] if len(specs) == 1 else min(specs, key=lambda each: _cost(each, X[tuning], y[tuning], error))
    )
    rows = []
    for number in range(reshuffles):
        mixed = stream(seed, f"ocr {problem} order", number).permutation(rest)
        for place, fold in enumerate(_folds(X[mixed], y[mixed])):
            labels = labels_until(spec, fold, error, passes=1, seed=seed + 100 * number + place)
            about = {"problem": problem, "combination": combination, "spec": spec}
            rows.append(
                {**about, "reshuffle": number, "fold": place, "labels": labels, "length": len(fold[0])}
            )
    return rows


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


def _cost(spec: str, X: Floats, y: Floats, error: float) -> float:
    """Return the mean labels over the tuning folds; one that never arrives counts all its passes."""
    found = [
        (labels_until(spec, fold, error, PASSES, seed=place), PASSES * len(fold[0]))
        for place, fold in enumerate(_folds(X, y))
    ]
    return float(np.mean([length if np.isnan(labels) else labels for labels, length in found]))


def _folds(X: Floats, y: Floats) -> Iterator[Fold]:
    parts = np.arange(len(X)) * FOLDS // len(X)
    for place in range(FOLDS):
        test = parts == place
        yield X[~test], y[~test], X[test], y[test]


@lru_cache(maxsize=len(PROBLEMS))
def _examples(problem: str) -> tuple[Floats, Floats]:
    images, digits = mnist_5k()
    positive, negative, _ = PROBLEMS[problem]
    chosen = np.isin(digits, positive + negative)
    return images[chosen], np.where(np.isin(digits[chosen], positive), 1.0, -1.0)
