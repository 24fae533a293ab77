"""Task protocol, parallel execution of tasks, and access to their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from psm_sim.common.parallel import parallel_map
from psm_sim.common.progress import Progress, no_progress
from psm_sim.simulation.scenario import DigestCache

Row = dict[str, Any]


class Task(Protocol):
    """Independent unit of work that any process can run."""

    @property
    def kind(self) -> str:
        """Name under which the rows are selected, such as ``"run"``."""

    @property
    def labels(self) -> Mapping[str, Any]:
        """Values added to each row. They are not part of the key, so equal tasks run once."""

    @property
    def weight(self) -> int:
        """Amount of work, in pages."""

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of all inputs of the rows; see :meth:`Scenario.key` for *cache*."""

    def run(self) -> list[Row]:
        """Run the task and return its rows without the labels."""


@dataclass(frozen=True)
class Rows:
    """Rows of tasks, in the order of the tasks.

    Attributes
    ----------
    kinds : tuple of str
        Kind of each task.
    of_tasks : tuple of list of Row
        Rows of each task, including its labels.
    """

    kinds: tuple[str, ...]
    of_tasks: tuple[list[Row], ...]

    @classmethod
    def labelled(cls, tasks: Sequence[Task], results: Sequence[Sequence[Row]]) -> Rows:
        """Return the *results* of *tasks* with the labels of the tasks as the first columns."""
        pairs = zip(tasks, results, strict=True)
        of_tasks = tuple([{**task.labels, **row} for row in rows] for task, rows in pairs)
        return cls(tuple(task.kind for task in tasks), of_tasks)

    def of(self, kind: str) -> list[Row]:
        """Return the rows of all tasks of one kind.

        Raises
        ------
        KeyError
            If there is no task of that kind.
        """
        if kind not in self.kinds:
            raise KeyError(f"no rows of kind {kind!r}; expected one of {', '.join(sorted(set(self.kinds)))}")
        pairs = zip(self.kinds, self.of_tasks, strict=True)
        return [row for task_kind, rows in pairs if task_kind == kind for row in rows]

    def __iter__(self) -> Iterator[list[Row]]:
        return iter(self.of_tasks)

    def __len__(self) -> int:
        return len(self.of_tasks)


def run_tasks(tasks: Sequence[Task], workers: int = 1, progress: Progress = no_progress) -> Rows:
    """Run all *tasks* and return their rows in their order.

    For *workers* and *progress* see :func:`run_groups`.
    """
    (rows,) = run_groups([tasks], workers, progress)
    return rows


def run_groups(
    groups: Sequence[Sequence[Task]], workers: int = 1, progress: Progress = no_progress
) -> Iterator[Rows]:
    """Run the tasks of several groups in one pool, and yield the rows of each group when it has finished.

    Tasks with equal keys run once. The groups run one after the other, so that an interrupt loses only the
    last ones. In each group the heaviest tasks run first, so that no worker is left with a long task at the
    end.

    Parameters
    ----------
    groups : sequence of sequence of Task
        Tasks, each with its own seed and without shared state.
    workers : int
        Number of processes; -1 uses one per core. The rows do not depend on it.
    progress : callable
        Called after each task with the finished weight, the total weight and the number of tasks.
    """
    cache: DigestCache = {}
    keys = [[task.key(cache) for task in group] for group in groups]
    distinct: dict[str, Task] = {}
    for pair in zip(keys, groups, strict=True):
        for key, task in sorted(zip(*pair, strict=True), key=lambda item: -item[1].weight):
            distinct.setdefault(key, task)
    finished = zip(distinct, _run_all(list(distinct.values()), workers, progress), strict=True)
    results: dict[str, list[Row]] = {}
    for group, names in zip(groups, keys, strict=True):
        while not results.keys() >= set(names):
            key, rows = next(finished)
            results[key] = rows
        yield Rows.labelled(group, [results[key] for key in names])


def _run_all(tasks: Sequence[Task], workers: int, progress: Progress) -> Iterator[list[Row]]:
    done, total = 0, sum(task.weight for task in tasks)
    label = f"{len(tasks)} tasks"
    results = parallel_map(_run, tasks, None if workers < 0 else workers)
    progress(done, total, label)
    for task, rows in zip(tasks, results, strict=True):
        done += task.weight
        progress(done, total, label)
        yield rows


def _run(task: Task) -> list[Row]:
    return task.run()
