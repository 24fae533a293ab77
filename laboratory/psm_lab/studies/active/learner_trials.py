"""Tables, claims and verdicts that the studies of active learners share."""

from __future__ import annotations

from math import inf

import pandas as pd
from numpy.typing import ArrayLike

from psm_lab.studies.published_claims import OPEN_AGREEMENT, Claim, PublishedNumber
from psm_lab.studies.study import Findings, Scale
from psm_lab.studies.tasks import Rows
from psm_sim.common.summary_stats import Interval, confidence_interval

PUBLISHED, THEOREM, CONTROL = "published", "theorem", "control"
"""Roles of a claim: a statement of a source on its experiments, a theorem, and a comparison of our own."""

RULE = (
    "The rule was fixed beforehand. A claim of a direction agrees if the 95 % confidence interval of the"
    " paired differences lies on the claimed side of 0. It is open if the interval contains 0, and differs"
    " otherwise. A claim of no difference differs if the interval excludes 0. It is open otherwise, because"
    " the sources state no margin. A bound agrees if the largest simulated value keeps it. A range agrees if"
    " the interval lies inside it, differs if the interval lies outside it, and is open otherwise. A value is"
    " judged like a range, with a tolerance of .012 for a weighted error and of 0 for a count. Splits and"
    " folds of one data set are not independent, so their intervals are those of the corrected resampled t"
    " test of Nadeau and Bengio.\n\n"
    "Each claim has one of three roles, which are counted separately. A published claim is a statement of a"
    " source on its experiments. A theorem is a statement that a source proves. A control is a comparison of"
    " our own, which no source makes."
)
"""Rule of the verdicts, and the roles of the claims."""


def frame_of(rows: Rows, kind: str) -> pd.DataFrame:
    """Return the rows of one *kind* of trial as a table."""
    return pd.DataFrame(rows.of(kind))


def is_full(scale: Scale) -> bool:
    """Return whether *scale* is the scale of the full report."""
    return scale.replications >= 10


def missing_requirements(study: str, title: str, reason: str) -> Findings:
    """Return findings without results for a *study* that cannot run; the *reason* is a remark."""
    return Findings(study, title, "not run", remarks=[reason])


def direction(study: str, policy: str, quantity: str, source: str, side: int = 1) -> PublishedNumber:
    """Return the claim that a difference is above 0, or below 0 if *side* is -1."""
    low, high = (0.0, inf) if side > 0 else (-inf, 0.0)
    return PublishedNumber(study, policy, quantity, source, low=low, high=high)


def no_difference(study: str, policy: str, quantity: str, source: str) -> PublishedNumber:
    """Return the claim that two results do not differ, with a tolerance of 0."""
    return PublishedNumber(study, policy, quantity, source, low=0.0, high=0.0)


def judge_claim(
    claim: PublishedNumber, values: ArrayLike, role: str = PUBLISHED, test_share: float = 0.0
) -> Claim:
    """Judge a claim by the simulated *values*, one per replication.

    Parameters
    ----------
    claim : PublishedNumber
        Claim of any kind.
    values : array_like
        Simulated values. Missing values do not count.
    role : str
        :data:`PUBLISHED`, :data:`THEOREM` or :data:`CONTROL`.
    test_share : float
        Argument of :func:`resampled_interval`; 0 if the replications are independent.
    """
    numbers = [float(value) for value in pd.Series(values, dtype=float).dropna()]
    mean, largest = resampled_interval(numbers, test_share), max(numbers)
    return Claim(claim, mean, largest, claim.verdict(mean, largest, words=OPEN_AGREEMENT), role=role)


def resampled_interval(values: ArrayLike, test_share: float) -> Interval:
    """Return the mean and its 95 % interval, corrected for training parts that overlap.

    The variance of the mean of n values is s^2 (1/n + test_share / (1 - test_share)), where the fraction is
    the ratio of test to training instances. Source: C. Nadeau and Y. Bengio, Inference for the
    Generalization Error, Machine Learning, 2003.

    Parameters
    ----------
    values : array_like
        One value per split or fold of the same data.
    test_share : float
        Share of the instances in the test part; 0 for independent values.
    """
    interval = confidence_interval(values)
    widening = (1 + interval.replications * test_share / (1 - test_share)) ** 0.5
    return interval._replace(half_width=interval.half_width * widening)
