"""Ranking of the policies of a benchmark.

The score of a policy is the geometric mean, over all cases, of its cost divided by the best known cost. The
ratio of two scores is the geometric mean of the ratios of the costs. Another best known cost would therefore
not change the order of the policies. A case with large costs has the same weight as the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from psm_sim.campaign.benchmark.cases import DEVICES, PAGES, PRICED, TRAFFIC, Case, is_priced
from psm_sim.campaign.benchmark.result import BenchmarkResult
from psm_sim.common.array_types import FloatArray
from psm_sim.common.random_streams import random_stream
from psm_sim.common.summary_stats import (
    MIN_DIFFERENCE,
    confidence_interval,
    shared_ranks,
    significant_differences,
)

REFERENCE_POLICY = "psm"
"""Policy whose cost is the reference for the costs of a case."""

FIRST = 3
"""Number of first ranks whose order is compared between measures."""

_DRAWS = 2000  # so that 50 draws lie above a 95 % interval


@dataclass(frozen=True)
class Standing:
    """Policy in the ranking.

    Attributes
    ----------
    rank : int
        Rank from 1. Policies that do not differ from the first policy of a rank share the rank.
    policy : str
        Policy spec.
    score, low, high : float
        Geometric mean, over all cases, of cost / best known cost, and its 95 % interval over the seeds.
    behind, behind_low, behind_high : float
        Score divided by the score of the first policy, and its 95 % interval over the kinds of traffic.
    best, worse : int
        Numbers of cases in which no policy costs less, and in which static PSM costs less.
    worst, worst_case : (float, Case)
        Largest ratio, over all cases, of the policy's cost to the least cost of any policy, and the case with
        this ratio.
    """

    rank: int
    policy: str
    score: float
    low: float
    high: float
    behind: float
    behind_low: float
    behind_high: float
    best: int
    worse: int
    worst: float
    worst_case: Case


def policies_of(result: BenchmarkResult, priced: bool) -> list[str]:
    """Return the policies of one ranking: with the price of the case if *priced*, else without it.

    Policies that have no price parameter are in both rankings.
    """
    informed = {name for name, spec in PRICED.items() if spec in result.policies}
    return [
        policy for policy in result.policies if (policy not in informed if priced else not is_priced(policy))
    ]


def rank(result: BenchmarkResult, policies: Sequence[str] | None = None) -> list[Standing]:
    """Rank *policies*, by default all, by ascending score. They must include static PSM."""
    names = result.policies if policies is None else policies
    logs = result.log_costs(names) - result.log_best_known()
    means = logs.mean(axis=2)
    wins, worse = _wins_and_losses(logs, names.index(REFERENCE_POLICY))
    behind = means - means.min(axis=0)
    scores = logs.mean(axis=1)
    order = np.argsort(scores.mean(axis=1), kind="stable")
    drawn = _drawn(means, result.cases)
    ratios = np.exp(drawn - drawn[order[0]])
    standings = []
    for number, index in zip(shared_ranks(_differs(scores), order), order, strict=True):
        interval, case = confidence_interval(scores[index]), int(behind[index].argmax())
        low, high = np.quantile(ratios[index], (0.025, 0.975))
        standings.append(
            Standing(
                rank=number,
                policy=names[index],
                score=float(np.exp(interval.mean)),
                low=float(np.exp(interval.low)),
                high=float(np.exp(interval.high)),
                behind=float(np.exp(interval.mean - scores[order[0]].mean())),
                behind_low=float(low),
                behind_high=float(high),
                best=int(wins[index].sum()),
                worse=int(worse[index].sum()),
                worst=float(np.exp(behind[index, case])),
                worst_case=result.cases[case],
            )
        )
    return standings


def _drawn(means: FloatArray, cases: Sequence[Case]) -> FloatArray:
    """Return the log scores for kinds of traffic drawn with replacement, shape (policies, draws)."""
    kinds = np.array([case.traffic for case in cases])
    by_kind = np.array([means[:, kinds == kind].mean(axis=1) for kind in dict.fromkeys(kinds)])
    draws = random_stream(1, "benchmark.bootstrap").integers(len(by_kind), size=(_DRAWS, len(by_kind)))
    return np.asarray(by_kind[draws].mean(axis=1).T)


def first_ranks(result: BenchmarkResult, policies: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of the best policies for each measure, such as ``"worst case"``."""
    means = (result.log_costs(policies) - result.log_best_known()).mean(axis=2)
    groups = np.array(
        [TRAFFIC[case.traffic].group if case.traffic in TRAFFIC else "" for case in result.cases]
    )
    measures = {
        "score": means.mean(axis=1),
        "arithmetic mean": np.exp(means).mean(axis=1),
        "worst case": (means - means.min(axis=0)).max(axis=1),
        **{
            f"{group} only": means[:, groups == group].mean(axis=1)
            for group in (PAGES, DEVICES)
            if group in groups
        },
    }
    return {
        name: [policies[index] for index in np.argsort(values, kind="stable")[:FIRST]]
        for name, values in measures.items()
    }


def share_of_same_order(result: BenchmarkResult, policies: Sequence[str]) -> float:
    """Return the share of draws of traffic with the same first policies in the same order as all traffic."""
    means = (result.log_costs(policies) - result.log_best_known()).mean(axis=2)
    orders = np.argsort(_drawn(means, result.cases), axis=0, kind="stable")[:FIRST].T
    return float((orders == np.argsort(means.mean(axis=1), kind="stable")[:FIRST]).all(axis=1).mean())


def _differs(logs: FloatArray) -> NDArray[np.bool_]:
    """Return which policies differ in their mean over the seeds, by paired tests with Holm's correction.

    *logs* are logarithms of costs, shape (policies, seeds). A single seed allows no test, so only the size of
    a difference counts.
    """
    means = logs.mean(axis=1)
    differs = np.abs(np.subtract.outer(means, means)) > np.log1p(MIN_DIFFERENCE)
    return np.asarray(differs & significant_differences(logs) if logs.shape[1] > 1 else differs)


def _wins_and_losses(logs: FloatArray, reference: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return two arrays (policies, cases): whether no policy costs less, and whether the reference does."""
    wins = np.zeros(logs.shape[:2], dtype=bool)
    worse = np.zeros_like(wins)
    for case in range(logs.shape[1]):
        costs = logs[:, case]
        differs, means = _differs(costs), costs.mean(axis=1)
        wins[:, case] = ~differs[means.argmin()]
        worse[:, case] = differs[reference] & (means > means[reference])
    return wins, worse
