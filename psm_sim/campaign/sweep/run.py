"""Execution of a sweep, which runs the tasks that its store does not contain yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from psm_sim.campaign.sweep.database import lock_store
from psm_sim.campaign.sweep.eta import EtaEstimator
from psm_sim.campaign.sweep.grid import Grid
from psm_sim.campaign.sweep.planning import PlannedTask, TaskChecker, plan_tasks
from psm_sim.campaign.sweep.scheduler import ProgressCallback, Scheduler
from psm_sim.campaign.sweep.store import Store
from psm_sim.campaign.sweep.task_outcome import StoredRow
from psm_sim.campaign.sweep.user_files import LocalFiles, UserFiles
from psm_sim.campaign.sweep.worker_pool import Pool, ProcessPool, SerialPool
from psm_sim.common.errors import InputError
from psm_sim.common.parallel import cpu_count, process_count
from psm_sim.common.parameters import Parameter
from psm_sim.common.provenance import collect_provenance
from psm_sim.simulation.scenario import Scenario


def no_callback(remaining: EtaEstimator) -> None:
    """Ignore the progress of a sweep."""


_WORKERS = Parameter("workers", 1, at_least=1, at_most=1024)


@dataclass(frozen=True)
class Resources:
    """Workers of a sweep, which are processes of this machine or of a Dask cluster.

    Parameters
    ----------
    workers : int or None
        Number of local processes. None starts one per core.
    cluster : str
        Address of a Dask scheduler, or empty to use local processes.
    retry : bool
        Whether to run failed tasks again.
    """

    workers: int | None = None
    cluster: str = ""
    retry: bool = False

    def __post_init__(self) -> None:
        if self.workers is not None:
            _WORKERS.check(self.workers, "sweep")
            if self.cluster:
                raise InputError(
                    f"workers={self.workers} conflicts with cluster={self.cluster!r}, which has its own "
                    "workers; remove one of them."
                )


def run_grid(
    grid: Grid,
    store: Store,
    resources: Resources | None = None,
    command: str = "",
    on_progress: ProgressCallback = no_callback,
) -> list[StoredRow]:
    """Run the tasks of a grid that the store does not contain, and return the rows of all its tasks.

    Parameters
    ----------
    grid : Grid
        Grid to run.
    store : Store
        Store of the results.
    resources : Resources or None
        Workers. None selects the defaults of :class:`Resources`.
    command : str
        Command line or function call, for the list of sweeps in the store.
    on_progress : callable
        Called with the :class:`~psm_sim.campaign.sweep.eta.EtaEstimator` when the progress changes.

    Returns
    -------
    list of StoredRow
        Rows in the order of the tasks.

    Raises
    ------
    InputError
        If an input is invalid (checked before the first task runs), if another sweep uses the store, or if
        the store cannot be written.
    """
    tasks = plan_tasks(grid.tasks())
    with lock_store(store.path):
        _run(tasks, store, resources or Resources(), command, on_progress)
    return store.rows(keys=[task.key for task in tasks])


def _run(
    tasks: Sequence[PlannedTask],
    store: Store,
    resources: Resources,
    command: str,
    on_progress: ProgressCallback,
) -> None:
    states, final = store.states(), ("done",) if resources.retry else ("done", "failed")
    missing = [task for task in tasks if states.get(task.key) not in final]
    # read the files before the checks, which run user code
    files = UserFiles.of(planned.task for planned in missing)
    with _open_pool(resources, len(missing)) as pool:
        check = TaskChecker()
        parameters = {task.key: check.parameters(task) for task in tasks if task.key not in states}
        store.enrol(tasks, parameters)
        if resources.retry:
            store.retry(task.key for task in tasks)
        if missing:
            with _prepare_files(files, resources) as worker_files:
                _run_missing(missing, worker_files, store, pool, command, on_progress)


def _run_missing(
    tasks: Sequence[PlannedTask],
    files: UserFiles | LocalFiles,
    store: Store,
    pool: Pool,
    command: str,
    on_progress: ProgressCallback,
) -> None:
    status, number = "interrupted", 0
    try:
        scheduler = Scheduler(tasks, store, pool, files, on_progress)
        scheduler.begin()
        # collecting the provenance takes time, so the workers start first
        number = store.begin(command, collect_provenance(_user_files(tasks)))
        scheduler.run()
        status = "finished"
    except Exception:  # interrupts and signals are not subclasses of Exception
        status = "failed"
        raise
    finally:
        if number:
            store.end(number, status)


def _user_files(tasks: Sequence[PlannedTask]) -> list[Path]:
    """Return the user files that the tasks name."""
    scenarios = {(task.scenario_id[0], task.topology_id): task.task.scenario for task in tasks}
    policies = {str(task.task.policy): task.task.policy for task in tasks}
    named = [scenario.files() for scenario in scenarios.values()] + [
        Scenario().files(list(policies.values()))
    ]
    return list(dict.fromkeys(file for files in named for file in files))


@contextmanager
def _open_pool(resources: Resources, tasks: int) -> Iterator[Pool]:
    """Yield a worker pool. The workers start up while the tasks are validated."""
    pool = _create_pool(resources, tasks)
    finished = False
    try:
        yield pool
        finished = True
    finally:
        pool.close(at_once=not finished)


def _create_pool(resources: Resources, tasks: int) -> Pool:
    if not tasks:
        return SerialPool()
    if resources.cluster:
        from psm_sim.campaign.sweep.dask_pool import DaskPool

        return DaskPool(resources.cluster)
    workers = process_count(tasks, resources.workers or cpu_count())
    return SerialPool() if workers == 1 else ProcessPool(workers)


def _prepare_files(files: UserFiles, resources: Resources) -> AbstractContextManager[UserFiles | LocalFiles]:
    """Return the contents of the files for a cluster, or copies that edits during the sweep do not change."""
    if resources.cluster or not files.contents:
        return nullcontext(files)
    return _copy_files(files)


@contextmanager
def _copy_files(files: UserFiles) -> Iterator[LocalFiles]:
    with TemporaryDirectory(prefix="psm_sim-") as folder:
        yield LocalFiles(tuple(files.write_to(Path(folder)).items()))
