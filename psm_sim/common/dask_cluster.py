"""Execution of tasks on the workers of a Dask cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from psm_sim.common.errors import InputError
from psm_sim.common.parallel import Ended, WorkerDiedError, unordered_map
from psm_sim.common.provenance import code_versions

_Task = TypeVar("_Task")
_Output = TypeVar("_Output")

_CONNECT_TIMEOUT_S = 10  # the default is 30 s, too long to wait for a mistyped address
_POLL_TIMEOUT_S = 0.5  # maximum delay until Ctrl-C is noticed
_TASKS_PER_THREAD = 2
"""Submitted tasks per thread of the cluster, so that no thread waits for its next task."""


def run_on_cluster(
    function: Callable[[_Task], Iterable[_Output]], tasks: deque[_Task], address: str, isolated: bool
) -> Generator[tuple[_Task, _Output | Ended], None, None]:
    """Yield the outputs and the end of each task, as :func:`psm_sim.common.parallel.unordered_map` does.

    If a worker is lost, Dask runs its tasks again on other workers, up to its limit ``allowed-failures``.
    During the iteration, workers may join, and the caller may append to *tasks*. *address* names the
    scheduler, e.g. ``tcp://10.0.0.1:8786``. If *isolated* is true, each call runs in its own process on its
    worker.

    Raises
    ------
    InputError
        If Dask is not installed, no scheduler answers, the scheduler has no workers, or a worker has another
        version of psm_sim, numpy, scipy or simpy.
    """
    client = _connect(address)
    from distributed import KilledWorker, wait

    running: dict[Any, _Task] = {}
    try:
        _check_workers(client, address)
        while tasks or running:
            limit = _TASKS_PER_THREAD * max(1, sum(client.nthreads().values()))
            while tasks and len(running) < limit:
                task = tasks.popleft()
                # pure=False: a task that is submitted again must run again
                running[client.submit(_outputs, function, task, isolated, pure=False)] = task
            try:
                done = wait(list(running), timeout=_POLL_TIMEOUT_S, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                continue
            for future in done:
                task, error = running.pop(future), future.exception()
                outputs = [Ended(error)] if error else future.result()
                if isinstance(error, KilledWorker):
                    outputs = [Ended(WorkerDiedError("each worker that ran it has ended."))]
                yield from ((task, output) for output in outputs)
    finally:
        client.cancel(list(running), force=True)
        client.close(timeout=1 if running else _CONNECT_TIMEOUT_S)


def _outputs(
    function: Callable[[_Task], Iterable[_Output]], task: _Task, isolated: bool
) -> list[_Output | Ended]:
    return [output for _, output in unordered_map(function, deque([task]), 1, not isolated)]


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
