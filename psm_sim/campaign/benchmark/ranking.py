"""Ranking of the policies of a benchmark.

The score of a policy is the geometric mean over all cells of its cost divided by that of the offline
optimum. The ratio of two scores is the geometric mean of the ratios of their costs. The order of the policies
therefore does not depend on the optimum, and no cell counts more because its costs are large.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.campaign.benchmark.cells import CELLS, Cell
from psm_sim.campaign.benchmark.result import BenchmarkResult
from psm_sim.common.array_types import FloatArray
from psm_sim.common.summary_stats import confidence_interval, significant_differences

REFERENCE = "psm"
"""Policy whose cost is the limit below which power saving is worth it."""

MIN_DIFFERENCE = 0.01
"""Relative difference of two costs below which policies are equal, even if it is significant."""


@dataclass(frozen=True)
class Standing:
    """Policy in the ranking.

    Attributes
    ----------
    rank : int
        Rank from 1. Policies that do not differ from the first one of a rank share it.
    policy : str
        Policy spec.
    score, low, high : float
        Geometric mean of cost / cost of the offline optimum, and its 95 % interval over the seeds.
    best, worse : int
        Number of cells in which no policy costs less, and in which the policy costs more than static PSM.
    worst, worst_cell : (float, Cell)
        Largest ratio of its cost to that of the best policy of a cell, and this cell.
    """

    rank: int
    policy: str
    score: float
    low: float
    high: float
    best: int
    worse: int
    worst: float
    worst_cell: Cell


def rank(result: BenchmarkResult) -> list[Standing]:
    """Return the policies by ascending score. One of them must be static PSM."""
    logs = result.log_ratios()
    means = logs.mean(axis=2)
    wins, worse = _wins_and_losses(logs, result.policies.index(REFERENCE))
    behind = means - means.min(axis=0)
    scores = logs.mean(axis=1)
    order = np.argsort(scores.mean(axis=1), kind="stable")
    standings = []
    for number, index in zip(_ranks(scores, order), order, strict=True):
        interval, cell = confidence_interval(scores[index]), int(behind[index].argmax())
        standings.append(
            Standing(
                number,
                result.policies[index],
                float(np.exp(interval.mean)),
                float(np.exp(interval.low)),
                float(np.exp(interval.high)),
                int(wins[index].sum()),
                int(worse[index].sum()),
                float(np.exp(behind[index, cell])),
                CELLS[cell],
            )
        )
    return standings


def _ranks(scores: FloatArray, order: Iterable[int]) -> list[int]:
    """Return the rank of each policy in *order*; policies equal to the first one of a rank share it."""
    differs, ranks, leader = _differs(scores), list[int](), -1
    for number, index in enumerate(order, 1):
        if leader < 0 or differs[leader, index]:
            leader, current = index, number
        ranks.append(current)
    return ranks


def _differs(logs: FloatArray) -> NDArray[np.bool_]:
    """Return which policies differ in their mean over the seeds, by paired tests with Holm's correction.

    *logs* are logarithms of costs, shape (policies, seeds). With a single seed, only the sizes are compared.
    """
    means = logs.mean(axis=1)
    differs = np.abs(np.subtract.outer(means, means)) > np.log1p(MIN_DIFFERENCE)
    return np.asarray(differs & significant_differences(logs) if logs.shape[1] > 1 else differs)


def _wins_and_losses(logs: FloatArray, reference: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return in which cells no policy costs less, and which cost more than the reference."""
    wins = np.zeros(logs.shape[:2], dtype=bool)
    worse = np.zeros_like(wins)
    for cell in range(logs.shape[1]):
        costs = logs[:, cell]
        differs, means = _differs(costs), costs.mean(axis=1)
        wins[:, cell] = ~differs[means.argmin()]
        worse[:, cell] = differs[reference] & (means > means[reference])
    return wins, worse


def mean_scores(result: BenchmarkResult, field: str) -> dict[str, dict[str, float]]:
    """Return the score of each policy by the values of a *field* of the cells: traffic, radio or price."""
    means, keys = result.log_ratios().mean(axis=2), [getattr(cell, field) for cell in CELLS]
    return {
        policy: {
            str(key): float(
                np.exp(np.mean([value for value, other in zip(row, keys, strict=True) if other == key]))
            )
            for key in dict.fromkeys(keys)
        }
        for policy, row in zip(result.policies, means, strict=True)
    }
