"""Joint run of several studies, with all their tasks in one pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psm_lab.studies.study import Findings, Scale, Study
from psm_lab.studies.tasks import run_groups
from psm_sim.common.progress import Progress, no_progress

EVERY_PROCESSOR = -1
"""Value of *workers* for one process per core."""


def reproduce(
    studies: Mapping[str, Study],
    scale: Scale,
    seed: int = 1,
    workers: int = EVERY_PROCESSOR,
    progress: Progress = no_progress,
) -> Iterator[Findings]:
    """Run the tasks of all studies together, and yield the findings of each study when it has finished.

    The studies keep their order. A task that several studies share runs once. The findings do not depend on
    *workers*.

    Parameters
    ----------
    studies : mapping of str to Study
        Studies by name.
    scale : Scale
        Number of replications and pages of each study.
    seed : int
        First seed, 0 or more.
    workers : int
        Number of processes; :data:`EVERY_PROCESSOR` starts one per core.
    progress : callable, optional
        Called with (pages done, total pages, label) after each task.
    """
    tasks = [study.tasks(scale, seed) for study in studies.values()]
    for study, rows in zip(studies.values(), run_groups(tasks, workers, progress), strict=True):
        yield study.digest(rows, scale, seed)
