"""Scheduler of a sweep, which dispatches batches and stores their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from psm_sim.campaign.sweep.eta import EtaEstimator
from psm_sim.campaign.sweep.planning import PlannedTask, TopologyCache
from psm_sim.campaign.sweep.store import Store
from psm_sim.campaign.sweep.task_batches import MAX_POLICIES, Batch, Job, split_batches
from psm_sim.campaign.sweep.task_outcome import Outcome
from psm_sim.campaign.sweep.user_files import LocalFiles, UserFiles
from psm_sim.campaign.sweep.worker import WorkerLost
from psm_sim.campaign.sweep.worker_pool import Pool
from psm_sim.common.component_spec import Spec

ProgressCallback = Callable[[EtaEstimator], None]
"""Function that is called with the remaining work when a batch is dispatched or a task is done."""

_BATCHES_PER_WORKER = 2
"""Dispatched batches per worker, so that the next one is already queued when a batch is done."""


class Scheduler:
    """Scheduler of the tasks of one sweep.

    Parameters
    ----------
    tasks : sequence of PlannedTask
        Tasks to run.
    store : Store
        Store of the outcomes.
    pool : Pool
        Workers.
    files : UserFiles or LocalFiles
        User files that the tasks name.
    on_progress : callable
        See :data:`ProgressCallback`.
    """

    def __init__(
        self,
        tasks: Sequence[PlannedTask],
        store: Store,
        pool: Pool,
        files: UserFiles | LocalFiles,
        on_progress: ProgressCallback,
    ) -> None:
        self._store, self._pool, self._files, self._report = store, pool, files, on_progress
        self._tasks = {task.key: task for task in tasks}
        self._groups = _group_tasks(tasks)
        self._suspects: list[list[PlannedTask]] = []
        self._topologies = TopologyCache()
        self._dispatched = 0
        kinds = [(task.task.policy.name, task.task.scenario.pages) for task in tasks]
        self.remaining = EtaEstimator(kinds, pool.workers)

    def begin(self) -> None:
        """Dispatch the first batches."""
        self._fill()

    def run(self) -> None:
        """Run until every task has an outcome.

        The tasks of a batch whose worker died run again at the end, in batches of one. Only the task that
        ended the worker fails then.
        """
        while self._fill() or self._dispatched:
            self._collect(self._suspects)
        for group in split_batches(self._suspects, 1):
            self._groups = [group]
            while self._fill() or self._dispatched:
                self._collect(None)

    def _fill(self) -> bool:
        """Dispatch batches until the pool has enough, and return whether undispatched groups remain."""
        while self._groups and self._dispatched < _BATCHES_PER_WORKER * self._pool.workers:
            count = self.remaining.jobs_at_once(len(self._groups))
            taken, self._groups = self._groups[:count], self._groups[count:]
            self._pool.submit(Batch(tuple(map(self._job, taken)), self._files))
            self._dispatched += 1
        self._report(self.remaining)
        return bool(self._groups)

    def _job(self, group: list[PlannedTask]) -> Job:
        scenario: Any = group[0].task.scenario
        policies, trace = tuple(member.task.policy for member in group), Spec.of(scenario.trace, "trace")
        keys = tuple(member.key for member in group)
        return Job(self._topologies.of(group[0]), trace, scenario.pages, scenario.seed, policies, keys)

    def _collect(self, suspects: list[list[PlannedTask]] | None) -> None:
        """Store the outcomes of finished batches.

        The tasks of lost batches are appended to *suspects*, or fail if *suspects* is None.
        """
        for batch, result in self._pool.finished() if self._dispatched else []:
            self._dispatched -= 1
            if not isinstance(result, WorkerLost):
                self._record(result)
            elif suspects is not None:
                suspects += [[self._tasks[key]] for key in batch.keys]
            else:
                self._record(
                    [Outcome(key, None, f"The worker returned no result: {result}") for key in batch.keys]
                )

    def _record(self, outcomes: Sequence[Outcome]) -> None:
        self._store.record(outcomes)
        for outcome in outcomes:
            task = self._tasks[outcome.key].task
            self.remaining.done(task.policy.name, task.scenario.pages, outcome.wall_s)
            self._report(self.remaining)


def _group_tasks(tasks: Sequence[PlannedTask]) -> list[list[PlannedTask]]:
    """Group the tasks by scenario, the largest groups first, so that the last jobs are short.

    Groups of equal size are sorted by key, which is a hash. This shuffles them, so that the first tasks are
    a random sample for the estimate of the remaining time.
    """
    ordered = sorted(tasks, key=lambda task: repr(task.scenario_id))
    groups = split_batches(
        [list(group) for _, group in groupby(ordered, lambda task: task.scenario_id)], MAX_POLICIES
    )
    return sorted(groups, key=lambda group: (-len(group), group[0].key))
