"""Execution of jobs on the workers of a Dask cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from functools import partial
from typing import Any

from psm_sim.campaign.sweep.job import Job, run_job
from psm_sim.campaign.sweep.table import Row
from psm_sim.campaign.sweep.user_files import UserFiles
from psm_sim.common.errors import InputError
from psm_sim.common.parallel import WORKER_DIED, Ended, WorkerDiedError, unordered_map
from psm_sim.common.provenance import code_versions

_CONNECT_TIMEOUT_S = 10
_POLL_TIMEOUT_S = 0.5
_JOBS_PER_THREAD = 2
"""Submitted jobs per thread of the cluster, so that the next job is there when one is done."""


def run_on_cluster(
    files: UserFiles, jobs: deque[Job], address: str
) -> Generator[tuple[Job, Row | Ended], None, None]:
    """Yield each job with its rows and its end, as :func:`psm_sim.common.parallel.unordered_map`.

    If a worker is lost, Dask runs its jobs again on other workers, up to its limit ``allowed-failures``.
    Workers may join during the sweep, and the caller may append *jobs*. *files* are those that the jobs name.
    *address* is that of the scheduler, e.g. ``tcp://10.0.0.1:8786``.

    Raises
    ------
    InputError
        If Dask is not installed, no scheduler answers, it has no workers, or a worker has another version of
        psm_sim, numpy, scipy or simpy.
    """
    client = _connect(address)
    from distributed import KilledWorker, wait

    running: dict[Any, Job] = {}
    try:
        _check_workers(client, address)
        run = partial(_run, files.has_code)
        # A task, because Dask does not create scattered data again when their worker is lost.
        shared_files = client.submit(UserFiles, files.contents, pure=False)
        while jobs or running:
            limit = _JOBS_PER_THREAD * max(1, sum(client.nthreads().values()))
            while jobs and len(running) < limit:
                job = jobs.popleft()
                # pure=False: a job that is submitted again must run again
                running[client.submit(run, shared_files, job, pure=False)] = job
            try:
                done = wait(list(running), timeout=_POLL_TIMEOUT_S, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                continue
            for future in done:
                job, error = running.pop(future), future.exception()
                values = [Ended(error)] if error else future.result()
                if isinstance(error, KilledWorker):
                    values = [Ended(WorkerDiedError(WORKER_DIED))]
                yield from ((job, value) for value in values)
    finally:
        client.cancel(list(running), force=True)
        client.close(timeout=1 if running else _CONNECT_TIMEOUT_S)


def _run(isolated: bool, files: UserFiles, job: Job) -> list[Row | Ended]:
    """Run a job on a worker. It is *isolated* in another process if user code may end its process."""
    run = partial(run_job, files.worker_paths())
    return [value for _, value in unordered_map(run, deque([job]), 1, not isolated)]


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            f"cluster={address!r} requires Dask; install it with pip install 'psm_sim[cluster]'."
        ) from None
    try:
        return Client(address, timeout=_CONNECT_TIMEOUT_S)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cluster: no Dask scheduler answers at {address!r} ({error}); specify the address of a running "
            "scheduler, e.g. tcp://10.0.0.1:8786."
        ) from error


def _check_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_CONNECT_TIMEOUT_S)
    except TimeoutError:
        raise InputError(
            f"cluster: the Dask scheduler at {address!r} has no workers; start some with"
            f" 'dask worker {address}'."
        ) from None
    for worker, versions in client.run(code_versions).items():
        for name, expected in code_versions().items():
            if versions.get(name) != expected:
                raise InputError(
                    f"Worker {worker} has {name} {versions.get(name)}, expected {expected}; install the same"
                    " version there."
                )
