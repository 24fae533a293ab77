"""Remaining work of a sweep: seconds left, and how many jobs to give a worker at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import ceil

BATCH_S = 1.0
"""Seconds of work in a batch: sending one and its answer takes a few milliseconds, well under 5 % of it."""

_BATCHES_LEFT = 4
"""Batches for each worker, at least, that the rest is divided into, so that none idles at the end."""


class EtaEstimator:
    """Work left, in pages by policy, and the pace measured so far.

    Parameters
    ----------
    tasks
        Pairs (name of the policy, pages) of what is to be run.
    workers
        The number of tasks that run at once.
    """

    def __init__(self, tasks: Iterable[tuple[str, int]], workers: int = 1) -> None:
        self.workers = workers
        self._left = Counter(tasks)
        self._done_pages: Counter[str] = Counter()
        self._took_s: dict[str, float] = {}
        self.tasks_done, self.tasks = 0, self._left.total()

    def done(self, policy: str, pages: int, wall_s: float | None) -> None:
        """Take note of a finished task.

        Parameters
        ----------
        policy, pages
            As they were given.
        wall_s
            The seconds that it took; None: it was done elsewhere.
        """
        self.tasks_done += 1
        self._left[policy, pages] -= 1
        if wall_s is not None:
            self._done_pages[policy] += pages
            self._took_s[policy] = self._took_s.get(policy, 0.0) + wall_s

    @property
    def work_s(self) -> float | None:
        """Seconds of one worker's work that are left; None before the first task is done."""
        return sum(count * task_s for count, task_s in self._tasks_left()) if self._took_s else None

    @property
    def left_s(self) -> float | None:
        """Seconds left, if the workers keep busy until the last tasks; None before the first task is done.

        Half of the longest task left is added where there are several workers: so long, on average, does
        the last of them work when there is no more for the others.
        """
        left = self._tasks_left() if self._took_s else []
        if not left:
            return None if not self._took_s else 0.0
        workers = min(self.workers, sum(count for count, _ in left))
        longest_s = max(task_s for _, task_s in left)
        return sum(count * task_s for count, task_s in left) / workers + longest_s / 2 * (1 - 1 / workers)

    def jobs_at_once(self, jobs_left: int) -> int:
        """Return how many of the jobs left make a batch: about a second's work, one until a pace is known."""
        work_s = self.work_s
        if not work_s or not jobs_left:
            return 1
        fair = ceil(jobs_left / (_BATCHES_LEFT * self.workers))
        return max(1, min(fair, int(BATCH_S * jobs_left / work_s)))

    def _tasks_left(self) -> list[tuple[int, float]]:
        """Return pairs (number of tasks left, seconds that one takes).

        Each policy has its own pace; one that has not been measured is taken to have the mean one.
        """
        mean = sum(self._took_s.values()) / self._done_pages.total()
        paces = {policy: took_s / self._done_pages[policy] for policy, took_s in self._took_s.items()}
        left = [(policy, pages, count) for (policy, pages), count in self._left.items() if count]
        return [(count, pages * paces.get(policy, mean)) for policy, pages, count in left]
