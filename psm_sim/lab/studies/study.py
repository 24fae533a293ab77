"""Study interface: tasks to run, and what their rows say about published claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pandas as pd

from psm_sim.campaign.task_runner import Rows, Task
from psm_sim.lab.studies.published import Claim
from psm_sim.simulation.preset import Preset

CHOOSING = range(1001, 1021)
"""The seeds that choices are made on; numbers are judged on others."""

LOOKED_AT = 100
"""The number of seeds, from the first one on, that are not judged on: earlier choices were made on some."""


@dataclass(frozen=True)
class Scale:
    """Size of a study: independent replications, and pages in each.

    Parameters
    ----------
    replications
        The replications of a study that judges no published number.
    pages, long_pages
        The pages of a replication, and of one where long runs count.
    judged, judged_long
        The replications that a published number is judged on, and those of the experiments with long
        runs; 0: as many as ``replications``.
    """

    replications: int
    pages: int
    long_pages: int
    judged: int = 0
    judged_long: int = 0

    @property
    def full(self) -> bool:
        """Whether numbers are judged on as many replications as the report promises."""
        return self.judged >= FULL.judged

    def seeds(self, first: int) -> range:
        """Return the seed of each replication."""
        return range(first, first + self.replications)

    def judging(self, first: int, *, long: bool = False) -> range:
        """Return the seeds that published numbers are judged on, those of *long* runs if wanted."""
        count = (self.judged_long if long else self.judged) or self.replications
        return range(first + LOOKED_AT, first + LOOKED_AT + count)

    def choosing(self, most: int) -> range:
        """Return at most *most* of the seeds that choices are made on, a single one where little is run."""
        return CHOOSING[: most if self.full else 1]


FULL = Scale(replications=10, pages=100, long_pages=500, judged=100, judged_long=16)
QUICK = Scale(replications=3, pages=40, long_pages=60)


@dataclass(frozen=True)
class Table:
    """A table of a report; numbers are formatted when it is written."""

    title: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class Findings:
    """Findings of a study: remarks, tables, claims, and the numbers of its figures by name.

    ``remarks`` are computed from the rows; ``commentary`` is what a person wrote, whatever the rows say.
    ``presets`` are those used; reports tell what each was fitted to. ``provisional`` says that the verdicts
    rest on fewer replications than they should.
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


def join_paragraphs(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text, which blank lines separate, each as one line."""
    return tuple(" ".join(part.split()) for part in text.strip().split("\n\n"))


class Study(Protocol):
    """A study: any object with these two methods."""

    def tasks(self, scale: Scale, seed: int) -> Sequence[Task]:
        """Return what is to be run, with seeds from *seed* on."""

    def digest(self, rows: Rows, scale: Scale, seed: int) -> Findings:
        """Return what the rows mean.

        Parameters
        ----------
        rows : list of list of dict
            The rows of each task, in the order of :meth:`tasks`.
        scale : Scale
            The size that :meth:`tasks` was given.
        seed : int
            The first seed, as :meth:`tasks` was given.
        """
