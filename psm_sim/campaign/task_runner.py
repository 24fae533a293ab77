"""Tasks: pieces of work with a key of their own, run on any number of workers; their rows by kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from psm_sim.parallel import parallel_map
from psm_sim.progress import Progress, no_progress
from psm_sim.simulation.scenario_key import DigestCache

Row = dict[str, Any]


class Task(Protocol):
    """A piece of work that any process can do: its rows depend on nothing but itself."""

    @property
    def kind(self) -> str:
        """The name by which a digest asks for its rows, such as ``"run"``."""

    @property
    def labels(self) -> Mapping[str, Any]:
        """Values written into each of its rows; they decide no number, so that equal work is done once."""

    @property
    def weight(self) -> int:
        """The amount of work, in pages."""

    def key(self, cache: DigestCache | None = None) -> str:
        """Return a hash of everything that decides its rows; *cache* as for :meth:`Scenario.key`."""

    def run(self) -> list[Row]:
        """Do it, and return its rows, without the labels."""


@dataclass(frozen=True)
class Rows:
    """The rows of some tasks, in the order of the tasks.

    ``kinds`` has the kind of each task, ``of_tasks`` its rows, labels included; both have one element per
    task.
    """

    kinds: tuple[str, ...]
    of_tasks: tuple[list[Row], ...]

    @classmethod
    def labelled(cls, tasks: Sequence[Task], found: Sequence[Sequence[Row]]) -> Rows:
        """Return the rows *found* by *tasks*, each a fresh dictionary with its task's labels in front."""
        pairs = zip(tasks, found, strict=True)
        rows = tuple([{**task.labels, **row} for row in each] for task, each in pairs)
        return cls(tuple(task.kind for task in tasks), rows)

    def of(self, kind: str) -> list[Row]:
        """Return the rows of all tasks of a kind, one after the other.

        Raises
        ------
        KeyError
            If no task is of that kind.
        """
        if kind not in self.kinds:
            raise KeyError(f"no rows of kind {kind!r}; there are {', '.join(sorted(set(self.kinds)))}")
        pairs = zip(self.kinds, self.of_tasks, strict=True)
        return [row for mine, rows in pairs if mine == kind for row in rows]

    def slice(self, first: int, count: int) -> Rows:
        """Return the rows of *count* tasks, from task number *first* (0 is the first of all)."""
        chosen = slice(first, first + count)
        return Rows(self.kinds[chosen], self.of_tasks[chosen])

    def __iter__(self) -> Iterator[list[Row]]:
        return iter(self.of_tasks)

    def __len__(self) -> int:
        return len(self.of_tasks)


def run_tasks(tasks: Sequence[Task], workers: int = 1, progress: Progress = no_progress) -> Rows:
    """Run all tasks, and return their rows in the order of the tasks.

    Tasks with the same key are run once. The heaviest are run first, so that no worker is left with a
    long one at the end.

    Parameters
    ----------
    tasks
        What is to be run. Each has its own seed and shares nothing.
    workers
        Processes; the rows do not depend on it. -1: one for each core.
    progress
        Called after each task with the weight done, the weight of all, and how many tasks there are.
    """
    known: DigestCache = {}
    keys = [task.key(known) for task in tasks]
    distinct = dict(zip(keys, tasks, strict=True))
    order = sorted(distinct, key=lambda key: -distinct[key].weight)
    found = dict(zip(order, _run_all([distinct[key] for key in order], workers, progress), strict=True))
    return Rows.labelled(tasks, [found[key] for key in keys])


def _run_all(tasks: Sequence[Task], workers: int, progress: Progress) -> Iterator[list[Row]]:
    done, total = 0, sum(task.weight for task in tasks)
    results = parallel_map(_run, tasks, None if workers < 0 else workers)
    for task, rows in zip(tasks, results, strict=True):
        yield rows
        done += task.weight
        progress(done, total, f"{len(tasks)} tasks")


def _run(task: Task) -> list[Row]:
    return task.run()
