"""Worker pool on a Dask cluster."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from psm_sim.campaign.sweep.task_batches import Batch, run_batch
from psm_sim.campaign.sweep.task_outcome import Outcome
from psm_sim.campaign.sweep.worker import WorkerLost
from psm_sim.campaign.sweep.worker_pool import POLL_TIMEOUT_S, BatchResult
from psm_sim.common.errors import InputError, describe_error
from psm_sim.version import __version__

_CONNECT_TIMEOUT_S = 10


class DaskPool:
    """Pool of the current and future workers of a Dask scheduler.

    If a worker is lost, Dask runs its batches again on other workers, up to its limit ``allowed-failures``.

    Parameters
    ----------
    address : str
        Address of the scheduler, e.g. ``tcp://10.0.0.1:8786``.

    Raises
    ------
    InputError
        If Dask is not installed, no scheduler answers, or a worker has another version of psm_sim.
    """

    def __init__(self, address: str) -> None:
        self._client = _connect(address)
        self._running: dict[Any, Batch] = {}
        versions = self._client.run(_version)
        mismatches = {worker: version for worker, version in versions.items() if version != __version__}
        if mismatches:
            self._client.close()
            worker, version = next(iter(mismatches.items()))
            raise InputError(
                f"Worker {worker} has psm_sim {version}, expected {__version__}; install {__version__} there."
            )

    @property
    def workers(self) -> int:
        """Number of threads of all workers, at least 1, since workers may join during a sweep."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def submit(self, batch: Batch) -> None:
        """Submit *batch* to the scheduler."""
        # pure=False: a resubmitted batch must run again
        self._running[self._client.submit(run_batch, batch, pure=False)] = batch

    def finished(self) -> BatchResult:
        """Return the finished batches. Wait at most :data:`POLL_TIMEOUT_S` for the first one."""
        from distributed import wait

        try:
            done = wait(list(self._running), timeout=POLL_TIMEOUT_S, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            return []
        return [(self._running.pop(future), _result_of(future)) for future in done]

    def close(self, *, at_once: bool = False) -> None:
        """Disconnect from the cluster. Cancel unfinished batches first if *at_once* is true."""
        if at_once:
            self._client.cancel(list(self._running), force=True)
        self._client.close(timeout=1 if at_once else _CONNECT_TIMEOUT_S)


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


def _version() -> str:
    return __version__


def _result_of(future: Future[Any]) -> list[Outcome] | WorkerLost:
    """Return the outcomes of a finished batch, or the reason why it has none."""
    error = future.exception()
    return WorkerLost(describe_error(error)) if error else future.result()
