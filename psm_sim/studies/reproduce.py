"""Reproduction of several studies: all their tasks in one pool, then the findings of each study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psm_sim.campaign.tasks import Task, run_tasks
from psm_sim.simulation.compare import Progress
from psm_sim.studies.study import Findings, Rows, Scale, Study

EVERY_PROCESSOR = -1


def reproduce(
    studies: Mapping[str, Study],
    scale: Scale,
    seed: int = 1,
    workers: int = EVERY_PROCESSOR,
    progress: Progress | None = None,
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
    found = _run_once([task for each in tasks.values() for task in each], workers, progress)
    return [study.digest(_rows(tasks[name], found), scale, seed) for name, study in studies.items()]


def _run_once(
    tasks: Sequence[Task], workers: int, progress: Progress | None
) -> Mapping[str, list[dict[str, Any]]]:
    """Run every distinct task, the heaviest first, so that no worker is left with a long one at the end."""
    distinct = {repr(task): task for task in tasks}
    order = sorted(distinct, key=lambda key: -distinct[key].weight)
    total = sum(task.weight for task in distinct.values())
    done = 0

    def finished(weight: int) -> None:
        nonlocal done
        done += weight
        if progress is not None:
            progress(done, total, f"{len(order)} tasks")

    rows = run_tasks([distinct[key] for key in order], workers, finished)
    return dict(zip(order, rows, strict=True))


def _rows(tasks: Sequence[Task], found: Mapping[str, list[dict[str, Any]]]) -> Rows:
    """Return copies of the rows of these tasks: a study can change its rows, and others share the tasks."""
    return [[dict(row) for row in found[repr(task)]] for task in tasks]
