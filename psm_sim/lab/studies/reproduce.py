"""Several studies at once: all their tasks in one pool, then the findings of each."""

from __future__ import annotations

from collections.abc import Mapping

from psm_sim.campaign.task_runner import run_tasks
from psm_sim.lab.studies.study import Findings, Scale, Study
from psm_sim.progress import Progress, no_progress

EVERY_PROCESSOR = -1


def reproduce(
    studies: Mapping[str, Study],
    scale: Scale,
    seed: int = 1,
    workers: int = EVERY_PROCESSOR,
    progress: Progress = no_progress,
) -> list[Findings]:
    """Run the tasks of all studies together; return the findings of each, in the order of *studies*.

    What two studies have in common is run once. The findings do not depend on *workers*.

    Parameters
    ----------
    studies : mapping of str to Study
        The studies by name.
    scale : Scale
        The number of replications and pages of each study.
    seed : int
        The first seed, 0 or more.
    workers : int
        The number of processes; :data:`EVERY_PROCESSOR` for one on each core.
    progress : callable, optional
        Called with (pages done, total pages, label) after each task.
    """
    tasks = {name: list(study.tasks(scale, seed)) for name, study in studies.items()}
    rows = run_tasks([task for each in tasks.values() for task in each], workers, progress)
    findings, first = [], 0
    for name, study in studies.items():
        findings.append(study.digest(rows.slice(first, len(tasks[name])), scale, seed))
        first += len(tasks[name])
    return findings
