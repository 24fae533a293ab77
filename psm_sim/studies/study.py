"""A study: tasks to run, and what their rows say of published claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pandas as pd

from psm_sim.campaign.tasks import Rows, Task
from psm_sim.studies.published import Claim


@dataclass(frozen=True)
class Scale:
    """How much to run: independent replications, and pages in each."""

    replications: int
    pages: int
    long_pages: int

    def seeds(self, first: int) -> range:
        """Return the seed of each replication."""
        return range(first, first + self.replications)


FULL = Scale(replications=10, pages=100, long_pages=500)
QUICK = Scale(replications=3, pages=40, long_pages=60)


@dataclass(frozen=True)
class Table:
    """A table of a report; numbers are formatted when it is written."""

    title: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class Findings:
    """What a study found: remarks, tables, claims, and the numbers of its figures by name."""

    study: str
    title: str
    setting: str
    remarks: Sequence[str] = ()
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = ()
    figures: Mapping[str, pd.DataFrame] = field(default_factory=dict)


class Study(Protocol):
    """A study is a module or object with these."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return what is to be run."""

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Say what the rows mean."""
