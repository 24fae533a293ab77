"""Tasks: pieces of work that run in parallel, each one independent of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Done = Callable[[int], None]
"""Called with the weight of the task that has just finished."""


class Task(Protocol):
    """A piece of work that any process can do: its rows depend on nothing but itself."""

    @property
    def weight(self) -> int:
        """The amount of work, in pages."""

    def run(self) -> list[dict[str, Any]]:
        """Do it, and return its rows."""


def run_tasks(
    tasks: Sequence[Task], workers: int = 1, done: Done = lambda _: None
) -> list[list[dict[str, Any]]]:
    """Run all tasks, and return the rows of each, in the order of the tasks.

    The rows do not depend on *workers*: each task has its own seed and shares nothing.

    Parameters
    ----------
    tasks : sequence of Task
        What to run; the order decides the order in which they begin.
    workers : int
        The number of processes; -1 for one on each core.
    done : callable
        Called with the weight of each task as it finishes.
    """
    from joblib import Parallel, delayed

    found = []
    results = Parallel(n_jobs=workers, return_as="generator")(delayed(_run)(task) for task in tasks)
    for task, rows in zip(tasks, results, strict=True):
        found.append(rows)
        done(task.weight)
    return found


def _run(task: Task) -> list[dict[str, Any]]:
    return task.run()
