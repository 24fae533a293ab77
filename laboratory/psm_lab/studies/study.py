"""Interface of a study, with its scale, tables and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pandas as pd

from psm_lab.studies.published_claims import Claim
from psm_lab.studies.tasks import Row, Rows, Task
from psm_sim.common.summary_stats import confidence_interval
from psm_sim.simulation.preset import Preset

CHOOSING = range(1001, 1021)
"""Seeds on which choices are made. Numbers are judged on other seeds."""

LOOKED_AT = 100
"""Number of seeds, from the first one on, that judge no number because choices were made on some of them."""


@dataclass(frozen=True)
class Scale:
    """Number of independent replications of a study, and of pages in each.

    Parameters
    ----------
    replications : int
        Number of replications of a study that judges no published number.
    pages, long_pages : int
        Number of pages of a replication, and of a long replication.
    judged, judged_long : int
        Number of replications, and of long replications, on which a published number is judged; 0 uses
        ``replications``.
    """

    replications: int
    pages: int
    long_pages: int
    judged: int = 0
    judged_long: int = 0

    @property
    def full(self) -> bool:
        """Whether published numbers are judged on as many replications as at the full scale."""
        return self.judged >= FULL.judged

    def seeds(self, first: int) -> range:
        """Return the seed of each replication."""
        return range(first, first + self.replications)

    def judging(self, first: int, *, long: bool = False) -> range:
        """Return the seeds on which published numbers are judged, counted from the seed *first*.

        If *long* is true, return the seeds of the long runs.
        """
        count = (self.judged_long if long else self.judged) or self.replications
        return range(first + LOOKED_AT, first + LOOKED_AT + count)

    def few(self, first: int, limit: int) -> range:
        """Return *limit* seeds from the seed *first* on, or a single seed at a small scale."""
        return range(first, first + (limit if self.full else 1))

    def choosing(self, limit: int) -> range:
        """Return the first *limit* seeds on which choices are made, or a single seed at a small scale."""
        return self.few(CHOOSING[0], limit)


FULL = Scale(replications=10, pages=100, long_pages=500, judged=100, judged_long=16)
QUICK = Scale(replications=2, pages=10, long_pages=15)
"""Scale of the stored reports, with as many pages as in the thesis, and a scale for runs of a few minutes."""


@dataclass(frozen=True)
class Table:
    """Table of a report. Its numbers are formatted when it is written."""

    title: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class Findings:
    """Findings of a study.

    Parameters
    ----------
    study, title, setting : str
        Name, title and setting of the study.
    remarks : sequence of str
        Remarks that are computed from the rows.
    commentary : sequence of str
        Fixed text, which does not depend on the rows.
    tables : sequence of Table
        Tables in the order of the report.
    claims : sequence of Claim
        Published numbers with their verdicts.
    presets : sequence of Preset
        Presets of the runs. Reports state the numbers to which each preset was fitted.
    provisional : bool
        Whether the verdicts are based on fewer replications than the full scale has.
    figures : mapping of str to DataFrame
        Data of the figures by name.
    summary : sequence of str
        Paragraphs of the summary at the top of a report, computed from the rows.
    sample : sequence of dict
        Rows of :func:`~psm_lab.studies.tasks.sample_rows`, if the findings are stored in a report.
    """

    study: str
    title: str
    setting: str
    remarks: Sequence[str] = ()
    commentary: Sequence[str] = ()
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    presets: Sequence[Preset] = ()
    provisional: bool = False
    figures: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    summary: Sequence[str] = ()
    sample: Sequence[Row] = ()


def table_of_means(
    frame: pd.DataFrame, by: str | Sequence[str], columns: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    """Return one row per group, with the means of columns as text.

    Parameters
    ----------
    frame : DataFrame
        Rows of all groups.
    by : str or sequence of str
        Columns whose values identify a group. The groups keep the order of their first rows.
    columns : mapping of str to (str, str)
        Column by heading, with the format of its mean and confidence interval, such as ``"{:.3f}"``.
    """
    names = [by] if isinstance(by, str) else list(by)
    return pd.DataFrame(
        dict(zip(names, values, strict=True))
        | {heading: text.format(confidence_interval(rows[name])) for heading, (name, text) in columns.items()}
        for values, rows in frame.groupby(names, sort=False)
    )


class Study(Protocol):
    """Protocol of a study, which is any object with these two methods."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return the tasks to run at size *scale*, with seeds from *seed* on."""

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return the findings from the rows of all tasks.

        Parameters
        ----------
        rows : Rows
            Rows of each task, in the order of :meth:`tasks`.
        scale : Scale
            Size that :meth:`tasks` received.
        seed : int
            First seed that :meth:`tasks` received.
        """
