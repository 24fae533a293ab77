"""Run of a sweep: what its store lacks is checked, run on workers, and kept as it finishes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from psm_sim.campaign.sweep.eta import EtaEstimator
from psm_sim.campaign.sweep.grid import Grid
from psm_sim.campaign.sweep.heartbeats import StoreRunner
from psm_sim.campaign.sweep.outcome import StoredRow
from psm_sim.campaign.sweep.planning import PlannedTask, TaskChecker, plan_tasks
from psm_sim.campaign.sweep.scheduler import ProgressCallback, Scheduler
from psm_sim.campaign.sweep.store import Store
from psm_sim.campaign.sweep.user_files import LocalFiles, UserFiles
from psm_sim.campaign.sweep.worker_pool import Pool, ProcessPool, SerialPool
from psm_sim.common.errors import InputError
from psm_sim.common.parallel import cpu_count, process_count
from psm_sim.common.parameter_values import Parameter
from psm_sim.common.provenance import collect_provenance
from psm_sim.simulation.scenario import Scenario


def no_callback(remaining: EtaEstimator) -> None:
    """Show nothing of the work that remains."""


_WORKERS = Parameter("workers", 1, at_least=1, at_most=1024)


@dataclass(frozen=True)
class Resources:
    """Means to run a sweep: processes of this machine, or the cluster whose scheduler has an address.

    ``workers`` is the number of processes, None for one on each core; ``cluster`` empty is none. With
    ``retry`` tasks that have failed are run again.
    """

    workers: int | None = None
    cluster: str = ""
    retry: bool = False

    def __post_init__(self) -> None:
        if self.workers is not None:
            _WORKERS.check(self.workers, "sweep")
            if self.cluster:
                raise InputError(
                    f"workers is {self.workers}, but the cluster {self.cluster!r} has workers of its own; "
                    "leave it out."
                )


def run_grid(
    grid: Grid,
    store: Store,
    means: Resources | None = None,
    command: str = "",
    outputs: ProgressCallback = no_callback,
) -> list[StoredRow]:
    """Run what the store lacks of a grid; return the rows of its tasks, in their order.

    Parameters
    ----------
    grid
        What is run.
    store
        Where it is kept; nothing that is there already is run again.
    means
        Where it is run.
    command
        What started it, for the store's list of sweeps.
    outputs
        Told what remains.

    Raises
    ------
    InputError
        If anything cannot be used, before the first task is run; or if the store cannot be written.
    """
    tasks = plan_tasks(grid.tasks())
    _run(tasks, store, means or Resources(), command, outputs)
    return store.rows(keys=[task.key for task in tasks])


def _run(
    tasks: Sequence[PlannedTask], store: Store, means: Resources, command: str, outputs: ProgressCallback
) -> None:
    states, over = store.states(), ("done",) if means.retry else ("done", "failed")
    missing = [task for task in tasks if states.get(task.key) not in over]
    files = UserFiles.of(each.task for each in missing)  # before a check runs any code of the user's
    with _pool(means, len(missing)) as pool:
        check = TaskChecker()
        parameters = {task.key: check.parameters(task) for task in tasks if task.key not in states}
        store.enrol(tasks, parameters)
        if means.retry:
            store.retry(task.key for task in tasks)
        if missing:
            with _as_workers_get_them(files, means) as sent:
                _run_missing(missing, sent, store, pool, command, outputs)


def _run_missing(
    tasks: Sequence[PlannedTask],
    files: UserFiles | LocalFiles,
    store: Store,
    pool: Pool,
    command: str,
    outputs: ProgressCallback,
) -> None:
    status, number, runner = "interrupted", 0, StoreRunner(store.path)
    try:
        conduct = Scheduler(tasks, store, runner, pool, files, outputs)
        conduct.begin()
        number = store.begin(
            command, collect_provenance(_files(tasks))
        )  # while the workers have something to do
        conduct.run()
        status = "finished"
    except Exception:  # an interrupt or a signal is none
        status = "failed"
        raise
    finally:
        store.undo()
        runner.close()
        if number:
            store.end(number, status)


def _files(tasks: Sequence[PlannedTask]) -> list[Path]:
    """Return the user's files that the tasks name."""
    scenarios = {(task.over[0], task.place): task.task.scenario for task in tasks}
    policies = {str(task.task.policy): task.task.policy for task in tasks}
    named = [each.files() for each in scenarios.values()] + [Scenario().files(list(policies.values()))]
    return list(dict.fromkeys(file for files in named for file in files))


@contextmanager
def _pool(means: Resources, tasks: int) -> Iterator[Pool]:
    """Give the workers for so many tasks, who make ready while the tasks are checked, and let them go."""
    pool = _made_pool(means, tasks)
    finished = False
    try:
        yield pool
        finished = True
    finally:
        pool.close(at_once=not finished)


def _made_pool(means: Resources, tasks: int) -> Pool:
    if not tasks:
        return SerialPool()
    if means.cluster:
        from psm_sim.campaign.sweep.dask_pool import DaskPool

        return DaskPool(means.cluster)
    workers = process_count(tasks, means.workers or cpu_count())
    return SerialPool() if workers == 1 else ProcessPool(workers)


def _as_workers_get_them(
    files: UserFiles, means: Resources
) -> AbstractContextManager[UserFiles | LocalFiles]:
    """Give the files: by content to a cluster, else as a copy that no edit during the sweep changes."""
    if means.cluster or not files.contents:
        return nullcontext(files)
    return _placed(files)


@contextmanager
def _placed(files: UserFiles) -> Iterator[LocalFiles]:
    with TemporaryDirectory(prefix="psm_sim-") as folder:
        yield LocalFiles(tuple(files.write_to(Path(folder)).items()))
