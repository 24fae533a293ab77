"""Execution of a sweep, which runs the tasks that its table does not contain yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from psm_sim.campaign.sweep.cluster import run_on_cluster
from psm_sim.campaign.sweep.grid import SweepTask
from psm_sim.campaign.sweep.job import Job, make_jobs, run_job
from psm_sim.campaign.sweep.table import Row, Table
from psm_sim.campaign.sweep.user_files import UserFiles
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.opened_files import are_unchanged
from psm_sim.common.parallel import Ended, WorkerDiedError, process_count, unordered_map
from psm_sim.common.parameters import Parameter
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.user_code_guards import limits_user_code

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
    """

    workers: int | None = None
    cluster: str = ""

    def __post_init__(self) -> None:
        if self.workers is not None:
            _WORKERS.check(self.workers, "sweep")
            if self.cluster:
                raise InputError(
                    f"workers={self.workers} conflicts with cluster={self.cluster!r}, which has its own "
                    "workers; remove one of them."
                )


class TaskFailedError(InputError):
    """Failure of a *task* of a sweep."""

    def __init__(self, task: SweepTask, error: str) -> None:
        super().__init__(error)
        self.task = task


def run_sweep_tasks(
    tasks: Sequence[SweepTask],
    table: Table,
    resources: Resources | None = None,
    progress: Progress = no_progress,
    fail_fast: bool = False,
) -> list[Row]:
    """Run the *tasks* whose results the *table* does not contain, and return all rows, without duplicates.

    A task runs again if it has failed, or if a file that it opened has changed. *progress* is called with the
    number of finished tasks and of all tasks that run.

    Raises
    ------
    TaskFailedError
        If a task fails and *fail_fast* is true. Otherwise its row has the reason.
    InputError
        If an input is invalid (checked before the first task runs), or if the table cannot be written.
    """
    resources = resources or Resources()
    cache: dict[tuple[object, ...], str] = {}
    by_key = {task.scenario.key([task.policy], cache): task for task in tasks}
    is_current = {files: are_unchanged(dict(files)) for files in {_opened(row) for row in table.rows}}
    rows = {
        row.key: row for row in table.rows if row.key in by_key and not row.error and is_current[_opened(row)]
    }
    missing = {key: task for key, task in by_key.items() if key not in rows}
    # read the files before the checks, which run user code
    files = UserFiles.of(missing.values())
    workers = 1 if resources.cluster else process_count(len(missing), resources.workers)
    jobs = deque(make_jobs(missing, workers) if missing else ())
    # a file that is again as it was, after a row with another content
    last = {row.task: row for row in table.rows}
    table.append([row for row in rows.values() if last[row.task] is not row])
    done = 0
    progress(done, len(missing), "")
    with _results(jobs, files, workers, resources.cluster) as results:
        for job, value in results:
            if isinstance(value, Row):
                finished = [_with_files_here(value) if resources.cluster else value]
            elif value.error is None:
                continue
            else:
                died = isinstance(value.error, WorkerDiedError)
                reason = value.error if died else describe_error(value.error)
                error = f"The worker returned no result: {reason}"
                failed, retried = job.failed_and_retried(rows)
                finished = [replace(row, error=error) for each in failed for row in each.rows]
                jobs.extend(retried)
            table.append(finished)
            rows |= {row.key: row for row in finished}
            done += len(finished)
            progress(done, len(missing), "")
            for row in finished:
                if fail_fast and row.error:
                    raise TaskFailedError(by_key[row.key], row.error)
    return [rows[key] for key in by_key]


def _opened(row: Row) -> tuple[tuple[str, str], ...]:
    return tuple(row.files.items())


def _with_files_here(row: Row) -> Row:
    """Return a row without those files of its worker that do not exist on this machine."""
    return replace(row, files={path: digest for path, digest in row.files.items() if Path(path).exists()})


@contextmanager
def _results(
    jobs: deque[Job], files: UserFiles, workers: int, cluster: str
) -> Iterator[Iterator[tuple[Job, Row | Ended]]]:
    """Yield an iterator over the jobs with their rows and ends. The workers end with the block."""
    if not jobs:
        yield iter(())
    elif cluster:
        with closing(run_on_cluster(files, jobs, cluster)) as results:
            yield results
    else:
        with TemporaryDirectory(prefix="psm_sim-") as folder:
            # Edits during the sweep do not change the copies.
            copies = files.write_to(Path(folder))
            is_here = workers == 1 and not limits_user_code()
            with closing(unordered_map(partial(run_job, copies), jobs, workers, is_here)) as results:
                yield results
