"""Estimator of the remaining time and of the batch size of a sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import ceil

BATCH_S = 1.0
"""Target duration of a batch in seconds.

Sending a batch and its outcomes takes a few milliseconds, which is well under 5 % of this time.
"""

_BATCHES_LEFT = 4
"""Minimum number of remaining batches per worker, so that no worker is idle near the end."""


class EtaEstimator:
    """Estimator of the remaining time, from the measured seconds per page of each policy.

    Parameters
    ----------
    tasks : iterable of (str, int)
        Name of the policy and number of pages of each task to run.
    workers : int
        Number of tasks that run concurrently.
    """

    def __init__(self, tasks: Iterable[tuple[str, int]], workers: int = 1) -> None:
        self.workers = workers
        self._left = Counter(tasks)
        self._done_pages: Counter[str] = Counter()
        self._took_s: dict[str, float] = {}
        self.tasks_done, self.tasks = 0, self._left.total()

    def done(self, policy: str, pages: int, wall_s: float) -> None:
        """Record a finished task.

        Parameters
        ----------
        policy : str
            Name of the policy.
        pages : int
            Number of pages.
        wall_s : float
            Duration in seconds.
        """
        self.tasks_done += 1
        self._left[policy, pages] -= 1
        self._done_pages[policy] += pages
        self._took_s[policy] = self._took_s.get(policy, 0.0) + wall_s

    @property
    def work_s(self) -> float | None:
        """Remaining seconds of work for a single worker, or None before the first task is done."""
        return sum(count * task_s for count, task_s in self._tasks_left()) if self._took_s else None

    @property
    def left_s(self) -> float | None:
        """Estimated seconds until the sweep is done, or None before the first task is done.

        The work is divided evenly among the workers. With n workers, (1 - 1/n) / 2 of the longest remaining
        task is added for the end of the sweep, when some workers are idle while the last tasks run.
        """
        left = self._tasks_left() if self._took_s else []
        if not left:
            return None if not self._took_s else 0.0
        workers = min(self.workers, sum(count for count, _ in left))
        longest_s = max(task_s for _, task_s in left)
        return sum(count * task_s for count, task_s in left) / workers + longest_s / 2 * (1 - 1 / workers)

    def jobs_at_once(self, jobs_left: int) -> int:
        """Return the number of jobs for the next batch, about :data:`BATCH_S` of work.

        The result is 1 until the first task is done.
        """
        work_s = self.work_s
        if not work_s or not jobs_left:
            return 1
        fair_share = ceil(jobs_left / (_BATCHES_LEFT * self.workers))
        return max(1, min(fair_share, int(BATCH_S * jobs_left / work_s)))

    def _tasks_left(self) -> list[tuple[int, float]]:
        """Return pairs (number of remaining tasks, estimated seconds per task).

        A policy without a finished task gets the mean time per page of all policies.
        """
        mean_s_per_page = sum(self._took_s.values()) / self._done_pages.total()
        s_per_page = {policy: took_s / self._done_pages[policy] for policy, took_s in self._took_s.items()}
        left = [(policy, pages, count) for (policy, pages), count in self._left.items() if count]
        return [(count, pages * s_per_page.get(policy, mean_s_per_page)) for policy, pages, count in left]
