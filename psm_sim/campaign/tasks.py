"""The same comparison over many seeds, in parallel: one row a policy and seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Done = Callable[[int], None]
"""Told the weight of the task that has just finished."""


class Task(Protocol):
    """A piece of work that can be done anywhere: its rows depend on nothing but itself."""

    @property
    def weight(self) -> int:
        """How much work it is, in pages."""

    def run(self) -> list[dict[str, Any]]:
        """Do it, and return its rows."""


def run_tasks(
    tasks: Sequence[Task], workers: int = 1, done: Done = lambda _: None
) -> list[list[dict[str, Any]]]:
    """Run all tasks, and return the rows of each, in the order of the tasks.

    The rows do not depend on *workers*: each task has its own seed and shares nothing. *done* is told
    the weight of each task as it finishes.
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
