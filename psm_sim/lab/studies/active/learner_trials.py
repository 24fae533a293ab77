"""Trials of the learners' studies, their rows as tables, and verdicts on claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from psm_sim.campaign.task_runner import Rows
from psm_sim.common.hashing import digest_of
from psm_sim.common.summary_stats import Interval, confidence_interval
from psm_sim.lab.studies.published_claims import Claim, PublishedNumber
from psm_sim.lab.studies.study import Findings, Scale
from psm_sim.simulation.scenario import DigestCache

RULE = (
    "The rule was fixed beforehand. A claim of a direction agrees if the 95 % confidence interval of the"
    " paired differences lies on the claimed side of 0. It is open if the interval contains 0, and differs"
    " otherwise. A bound agrees if the largest simulated value keeps it. A range agrees if the interval lies"
    " inside it, differs if the interval lies outside it, and is open otherwise."
)
"""Rule of the verdicts of these studies."""


@dataclass(frozen=True)
class Trial:
    """Task that calls a function, whose rows depend only on its arguments.

    Parameters
    ----------
    kind : str
        Name of the rows in a digest.
    work : callable
        Function of a module, which returns rows.
    arguments : mapping
        Keyword arguments of the function, as plain values.
    weight : int
        Approximate duration in tenths of a second.
    labels : mapping
        Columns that are added to the rows.
    """

    kind: str
    work: Callable[..., list[dict[str, Any]]]
    arguments: Mapping[str, Any]
    weight: int = 1
    labels: Mapping[str, Any] = field(default_factory=dict)

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of the function and its arguments, which determine the rows."""
        return digest_of({"work": f"{self.work.__module__}.{self.work.__qualname__}", **self.arguments})

    def run(self) -> list[dict[str, Any]]:
        """Call the function and return its rows."""
        return self.work(**self.arguments)


def frame_of(rows: Rows, kind: str) -> pd.DataFrame:
    """Return the rows of one *kind* of trial as a table."""
    return pd.DataFrame(rows.of(kind))


def is_full(scale: Scale) -> bool:
    """Return whether *scale* is that of the full report."""
    return scale.replications >= 10


def missing_requirements(study: str, title: str, reason: str) -> Findings:
    """Return the findings of a *study* with this *title* that cannot run, with the *reason* as a remark."""
    return Findings(study, title, "not run", remarks=[reason])


@dataclass(frozen=True)
class Direction(PublishedNumber):
    """Published claim that a difference has a sign."""

    side: int = 1

    def __str__(self) -> str:
        return "above 0" if self.side > 0 else "below 0"

    def verdict(self, ours: Interval, largest: float, relative: float) -> str:
        """Return ``agrees``, ``open`` or ``differs`` for the interval of the differences.

        Parameters
        ----------
        ours : Interval
            Mean of the paired differences with its confidence interval.
        largest, relative : float
            Not used; see :meth:`PublishedNumber.verdict`.
        """
        if ours.low <= 0 <= ours.high:
            return "open"
        return "agrees" if self.side * ours.mean > 0 else "differs"


def judge_claim(claim: PublishedNumber, values: ArrayLike) -> Claim:
    """Judge a claim by the simulated *values*, one per replication."""
    numbers = [float(value) for value in pd.Series(values, dtype=float).dropna()]
    mean, largest = confidence_interval(numbers), max(numbers)
    verdict = claim.verdict(mean, largest, relative=0.0)
    return Claim(claim, mean, largest, "open" if verdict == "undecided" else verdict)


def medians(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Return the median of each column, and as ``arrived`` the share of rows that have the first column.

    Parameters
    ----------
    frame : DataFrame
        One row per run.
    by : sequence of str
        Columns by which the rows are grouped.
    columns : sequence of str
        Columns of which the medians are taken.
    """
    groups = frame.groupby(list(by), sort=False)
    table = groups[list(columns)].median().reset_index()
    table["arrived"] = groups[columns[0]].apply(lambda values: values.notna().mean()).to_numpy()
    return table
