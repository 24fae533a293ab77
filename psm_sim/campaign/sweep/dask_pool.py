"""Cluster: a pool of the workers of a Dask scheduler, on this machine or on others."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from psm_sim.campaign.sweep.jobs import Batch, run_batch
from psm_sim.campaign.sweep.outcome import Outcome
from psm_sim.campaign.sweep.worker import WorkerLost
from psm_sim.campaign.sweep.worker_pool import POLL_TIMEOUT_S, BatchResult
from psm_sim.common.errors import InputError, describe_error
from psm_sim.version import __version__

_CONNECT_S = 10


class DaskPool:
    """Pool of the workers that a Dask scheduler has, or will have.

    Dask runs a lost worker's batches again, elsewhere, up to its own ``allowed-failures``.

    Parameters
    ----------
    address
        The scheduler's, such as ``tcp://10.0.0.1:8786``.

    Raises
    ------
    InputError
        If Dask is not installed, nobody answers at the address, or a worker has another version of psm_sim.
    """

    def __init__(self, address: str) -> None:
        self._client = _connected(address)
        self._running: dict[Any, Batch] = {}
        found = self._client.run(_version)
        wrong = {worker: version for worker, version in found.items() if version != __version__}
        if wrong:
            self._client.close()
            worker, version = next(iter(wrong.items()))
            raise InputError(
                f"The worker {worker} has psm_sim {version}; expected {__version__}: install that one there."
            )

    @property
    def workers(self) -> int:
        """The threads of all workers, at least 1: others may join while a sweep runs."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def submit(self, batch: Batch) -> None:
        """Give *batch* to the scheduler."""
        # Not pure: a batch that is submitted again is to be run again.
        self._running[self._client.submit(run_batch, batch, pure=False)] = batch

    def finished(self) -> BatchResult:
        """Return what is over, waiting a short while for the first."""
        from distributed import wait

        try:
            done = wait(list(self._running), timeout=POLL_TIMEOUT_S, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            return []
        return [(self._running.pop(future), _outcome_of(future)) for future in done]

    def close(self, *, at_once: bool = False) -> None:
        """Leave the cluster to others; *at_once*: call back what has not been done."""
        if at_once:
            self._client.cancel(list(self._running), force=True)
        self._client.close(timeout=1 if at_once else _CONNECT_S)


def _connected(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            f"cluster is {address!r}, but Dask is not installed; use pip install 'psm_sim[cluster]'."
        ) from None
    try:
        return Client(address, timeout=_CONNECT_S)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cluster is {address!r}, but no Dask scheduler answers there ({error}); give the address "
            "of one, as tcp://10.0.0.1:8786."
        ) from error


def _version() -> str:
    return __version__


def _outcome_of(future: Future[Any]) -> list[Outcome] | WorkerLost:
    """Return what came of a batch that is over."""
    error = future.exception()
    return WorkerLost(describe_error(error)) if error else future.result()
