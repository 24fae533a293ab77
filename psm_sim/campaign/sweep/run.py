"""Execution of a sweep, which runs the tasks that its table does not contain yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from psm_sim.campaign.sweep.grid import SweepTask
from psm_sim.campaign.sweep.job import Job, make_jobs, run_job
from psm_sim.campaign.sweep.table import Row, Table
from psm_sim.common.component_spec import Spec
from psm_sim.common.errors import InputError, describe_error
from psm_sim.common.opened_files import are_unchanged
from psm_sim.common.parallel import WorkerDiedError, process_count
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.run_many import WORKERS, run_as_completed, run_in_order
from psm_sim.common.user_code_guards import limits_user_code


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
        WORKERS.check(self.workers, "sweep")
        if self.cluster and self.workers is not None:
            raise InputError(
                f"workers={self.workers} conflicts with cluster={self.cluster!r}, which has its own workers;"
                " remove one of them."
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
    # read before the checks, which run user code, and not again, so that edits do not change the results
    policies = {str(task.policy): task.policy for task in missing.values()}
    files = {file for policy in policies.values() for file in policy.files()}
    contents = {str(file): file.read_bytes() for file in files if file.suffix.lower() == ".py"}
    workers = 1 if resources.cluster else process_count(len(missing), resources.workers)
    isolated = limits_user_code()
    jobs = deque(_make_jobs(missing, workers, isolated) if missing else ())
    # a file that is again as it was, after a row with another content
    last = {row.task: row for row in table.rows}
    table.append([row for row in rows.values() if last[row.task] is not row])
    names_files = {key for job in jobs for key in _keys_with_files(job)}
    function = partial(run_job, contents)
    if resources.cluster:
        isolated = bool(names_files)
        function = partial(run_job, contents, folder=Path.cwd() if isolated else None)
    done = 0
    progress(done, len(missing), "")
    with closing(run_as_completed(function, jobs, workers, resources.cluster, isolated)) as outputs:
        for job, output in outputs:
            first = sum(row.key in rows for row in job.rows)
            if isinstance(output, Row):
                opened = output.files if output.key in names_files else {}
                if resources.cluster:
                    opened = {path: digest for path, digest in opened.items() if Path(path).exists()}
                finished = [replace(output, files=opened)]
            elif first == len(job.rows):
                continue
            else:
                retried, finished = _after_end(job.part(first) if first else job, output.error)
                jobs.extend(retried)
            table.append(finished)
            rows |= {row.key: row for row in finished}
            done += len(finished)
            progress(done, len(missing), "")
            for row in finished:
                if fail_fast and row.error:
                    raise TaskFailedError(by_key[row.key], row.error)
    return [rows[key] for key in by_key]


def _after_end(job: Job, error: BaseException | None) -> tuple[list[Job], list[Row]]:
    """Return the jobs that continue a job whose process has ended, and the rows of failed tasks.

    The first task has ended the process if it has user code, or if this happens again. Otherwise the process
    may have been killed.
    """
    if error is None:  # another task has spent the memory of the process
        return [job], []
    died = isinstance(error, WorkerDiedError)
    has_code = any(file.suffix.lower() == ".py" for file in job.policies[0].files())
    if died and not (has_code or job.is_retry):
        return [replace(job, is_retry=True)], []
    failed = job.rows[:1] if died else job.rows
    text = f"The worker returned no result: {error if died else describe_error(error)}"
    rest = [job.part(len(failed))] if len(failed) < len(job.rows) else []
    return rest, [replace(row, error=text) for row in failed]


def _make_jobs(tasks: Mapping[str, SweepTask], workers: int, isolated: bool) -> list[Job]:
    """Return the jobs of the tasks, after a trial of their policies."""
    [(jobs, error)] = run_in_order(partial(make_jobs, workers=workers), [tasks], 1, isolated=isolated)
    if isinstance(error, WorkerDiedError):
        names = dict.fromkeys(str(task.policy) for task in tasks.values() if task.policy.files())
        raise WorkerDiedError(f"Policy {' or '.join(names)} failed in its trial: {error}")
    if error is not None:
        raise error
    return jobs


def _opened(row: Row) -> tuple[tuple[str, str], ...]:
    return tuple(row.files.items())


def _keys_with_files(job: Job) -> list[str]:
    """Return the keys of the tasks that name a file, so that they may open others."""
    stations = job.scenario.resolve_topology().stations
    shared = [Spec.parse(station.policy, "policy") for station in stations if station.policy]
    shared.append(Spec.parse(job.scenario.trace_name, "trace"))
    has_files = any(spec.files() for spec in shared)
    pairs = zip(job.policies, job.rows, strict=True)
    return [row.key for policy, row in pairs if has_files or policy.files()]
