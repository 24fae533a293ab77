"""Trials of the learners' studies: pieces of work, their rows as tables, and verdicts on claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from psm_sim.campaign.task_runner import Rows
from psm_sim.hashing import digest_of
from psm_sim.lab.studies.published import Claim, PublishedNumber
from psm_sim.lab.studies.study import Findings, Scale
from psm_sim.simulation.scenario_key import DigestCache
from psm_sim.summary_stats import Interval, confidence_interval

RULE = (
    "The rule, stated beforehand: a claim of a direction agrees if the 95 % confidence interval of the paired"
    " differences lies on the claimed side of 0, is open if it contains 0, and differs otherwise. A bound"
    " agrees if our largest value keeps it; a range agrees if our whole interval lies in it, differs if"
    " the whole interval lies outside, and is open otherwise."
)
"""How the verdicts of these studies are found."""


@dataclass(frozen=True)
class Trial:
    """One call of a function of a study; its rows depend on the arguments alone.

    Attributes
    ----------
    kind : str
        What a digest calls its rows.
    work : callable
        A function of a module; returns rows.
    arguments : mapping
        What it is called with, plain values.
    weight : int
        How long it takes, in tenths of a second.
    """

    kind: str
    work: Callable[..., list[dict[str, Any]]]
    arguments: Mapping[str, Any]
    weight: int = 1
    labels: Mapping[str, Any] = field(default_factory=dict)

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of the function and its arguments: what decides the rows."""
        return digest_of({"work": f"{self.work.__module__}.{self.work.__qualname__}", **self.arguments})

    def run(self) -> list[dict[str, Any]]:
        """Do it, and return its rows."""
        return self.work(**self.arguments)


def frame_of(rows: Rows, kind: str) -> pd.DataFrame:
    """Return the rows of one *kind* of trial as a table."""
    return pd.DataFrame(rows.of(kind))


def is_full(scale: Scale) -> bool:
    """Say whether the sizes of the full report are wanted."""
    return scale.replications >= 10


def missing_requirements(study: str, title: str, reason: str) -> Findings:
    """Return the findings of a *study* of that *title* that cannot run, with the *reason* in a sentence."""
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
            Of the paired differences.
        largest, relative : float
            Not used; as in :meth:`PublishedNumber.verdict`.
        """
        if ours.low <= 0 <= ours.high:
            return "open"
        return "agrees" if self.side * ours.mean > 0 else "differs"


def judge_claim(claim: PublishedNumber, values: ArrayLike) -> Claim:
    """Return a claim with our values, one per replication, and the verdict."""
    found = [float(value) for value in pd.Series(values, dtype=float).dropna()]
    mean, largest = confidence_interval(found), max(found)
    verdict = claim.verdict(mean, largest, relative=0.0)
    return Claim(claim, mean, largest, "open" if verdict == "undecided" else verdict)


def medians(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Return the median of each column, and in ``arrived`` the share of rows that have the first one.

    Parameters
    ----------
    frame : DataFrame
        One row per run.
    by, columns : sequence of str
        What to group by, and what to take the medians of.
    """
    groups = frame.groupby(list(by), sort=False)
    table = groups[list(columns)].median().reset_index()
    table["arrived"] = groups[columns[0]].apply(lambda values: values.notna().mean()).to_numpy()
    return table
