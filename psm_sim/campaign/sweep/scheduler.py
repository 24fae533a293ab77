"""Conduct of a sweep: batches out, outcomes into the store, until every task is done or has failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from time import sleep
from typing import Any

from psm_sim.campaign.sweep.eta import EtaEstimator
from psm_sim.campaign.sweep.heartbeats import StoreRunner
from psm_sim.campaign.sweep.jobs import MAX_POLICIES, Batch, Job, split_batches
from psm_sim.campaign.sweep.outcome import Outcome
from psm_sim.campaign.sweep.planning import PlannedTask, TopologyCache
from psm_sim.campaign.sweep.store import Store
from psm_sim.campaign.sweep.user_files import LocalFiles, UserFiles
from psm_sim.campaign.sweep.worker import WorkerLost
from psm_sim.campaign.sweep.worker_pool import POLL_TIMEOUT_S, Pool
from psm_sim.common.component_spec import Spec

ProgressCallback = Callable[[EtaEstimator], None]
"""Called when something is given out or done, with the work that remains."""

_AT_HAND = 2
"""Batches given out for each worker, so that it finds the next one when it has done one."""


class Scheduler:
    """Conduct of one sweep.

    Parameters
    ----------
    tasks
        What waits to be done.
    store
        Where the outcomes go.
    runner
        This process, as the store knows it.
    pool
        The workers.
    files
        The files that the tasks name, as the workers get them.
    outputs
        Told what remains.
    """

    def __init__(
        self,
        tasks: Sequence[PlannedTask],
        store: Store,
        runner: StoreRunner,
        pool: Pool,
        files: UserFiles | LocalFiles,
        outputs: ProgressCallback,
    ) -> None:
        self._store, self._runner, self._pool, self._files, self._watch = store, runner, pool, files, outputs
        self._tasks = {task.key: task for task in tasks}
        self._groups = _groups(tasks)
        self._elsewhere: list[list[PlannedTask]] = []
        self._suspects: list[list[PlannedTask]] = []
        self._places = TopologyCache()
        self._out = 0
        kinds = [(task.task.policy.name, task.task.scenario.pages) for task in tasks]
        self.remaining = EtaEstimator(kinds, pool.workers)

    def begin(self) -> None:
        """Give out the first batches."""
        self._fill()

    def run(self) -> None:
        """Run until every task has an outcome, here or from another process on the same store."""
        self._drain()
        while self._elsewhere:
            sleep(POLL_TIMEOUT_S)
            self._refresh_states()
            self._drain()

    def _drain(self) -> None:
        """Do what can be claimed; last, one by one, what was lost with a worker: only one may be to blame."""
        while self._fill() or self._out:
            self._collect(self._suspects)
        for group in split_batches(self._suspects, 1):
            self._groups = [group]
            while self._fill() or self._out:
                self._collect(None)
        self._suspects = []

    def _fill(self) -> bool:
        """Give out batches until the pool has enough; say whether there are groups left."""
        while self._groups and self._out < _AT_HAND * self._pool.workers:
            count = self.remaining.jobs_at_once(len(self._groups))
            taken, self._groups = self._groups[:count], self._groups[count:]
            mine = self._store.claim([each.key for group in taken for each in group], self._runner)
            jobs = [[each for each in group if each.key in mine] for group in taken]
            self._elsewhere += [[each for each in group if each.key not in mine] for group in taken]
            self._elsewhere = [group for group in self._elsewhere if group]
            self._submit([group for group in jobs if group])
        self._watch(self.remaining)
        return bool(self._groups)

    def _submit(self, groups: list[list[PlannedTask]]) -> None:
        if groups:
            self._pool.submit(Batch(tuple(map(self._job, groups)), self._files))
            self._out += 1

    def _job(self, group: list[PlannedTask]) -> Job:
        scenario: Any = group[0].task.scenario
        policies, trace = tuple(member.task.policy for member in group), Spec.of(scenario.trace, "trace")
        keys = tuple(member.key for member in group)
        return Job(self._places.of(group[0]), trace, scenario.pages, scenario.seed, policies, keys)

    def _collect(self, suspects: list[list[PlannedTask]] | None) -> None:
        """Write what has come back; what was lost goes to *suspects*, or has failed if that is None."""
        for batch, found in self._pool.finished() if self._out else []:
            self._out -= 1
            if not isinstance(found, WorkerLost):
                self._record(found)
            elif suspects is not None:
                suspects += [[self._tasks[key]] for key in batch.keys]
            else:
                self._record(
                    [Outcome(key, None, f"The worker gave no answer: {found}") for key in batch.keys]
                )

    def _record(self, outcomes: Sequence[Outcome]) -> None:
        self._store.record(outcomes)
        for outcome in outcomes:
            self._note(outcome.key, outcome.wall_s)

    def _note(self, key: str, wall_s: float | None) -> None:
        task = self._tasks[key].task
        self.remaining.done(task.policy.name, task.scenario.pages, wall_s)
        self._watch(self.remaining)

    def _refresh_states(self) -> None:
        """Take note of what another process has done; what it has left undone may be claimed."""
        states = self._store.states()
        self._groups, self._elsewhere = self._elsewhere, []
        for group in self._groups:
            for each in [member for member in group if states[member.key] != "waiting"]:
                group.remove(each)
                self._note(each.key, None)
        self._groups = [group for group in self._groups if group]


def _groups(tasks: Sequence[PlannedTask]) -> list[list[PlannedTask]]:
    """Return the tasks by scenario, the largest groups first: at the end no worker waits long for another.

    Groups of one size are shuffled: what is done first tells how long the rest takes.
    """
    ordered = sorted(tasks, key=lambda each: repr(each.over))
    found = split_batches(
        [list(group) for _, group in groupby(ordered, lambda each: each.over)], MAX_POLICIES
    )
    return sorted(found, key=lambda group: (-len(group), group[0].key))
