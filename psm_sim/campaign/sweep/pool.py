"""Pools: workers that do batches, in this process or in processes of this machine."""

from __future__ import annotations

import os
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from typing import Any, Protocol

from psm_sim.campaign.sweep.outcome import Outcome
from psm_sim.campaign.sweep.work import Batch, make_ready, run_batch
from psm_sim.errors import reason
from psm_sim.processes import begin

PATIENCE_S = 0.2
"""Seconds after which a pool comes back without a finished batch, so that an interrupt is heard."""

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Lost(str):
    """Reason why a batch has come to nothing: its worker is gone, or could not even begin."""

    __slots__ = ()


Finished = list[tuple[Batch, "list[Outcome] | Lost"]]


class Pool(Protocol):
    """Workers that do batches, in any order."""

    @property
    def workers(self) -> int:
        """The number of batches that are done at once."""

    def submit(self, batch: Batch) -> None:
        """Let a worker do *batch* as soon as one is free."""

    def finished(self) -> Finished:
        """Return the batches that are over, waiting a short while for the first."""

    def close(self, *, at_once: bool = False) -> None:
        """Let the workers go; *at_once*: whatever they are doing."""


class ThisProcess:
    """Pool without a worker of its own: batches are done when their outcomes are asked for."""

    workers = 1

    def __init__(self) -> None:
        self._waiting: list[Batch] = []

    def submit(self, batch: Batch) -> None:
        """Keep *batch* for :meth:`finished`."""
        self._waiting.append(batch)

    def finished(self) -> Finished:
        """Do the oldest batch."""
        batch = self._waiting.pop(0)
        return [(batch, run_batch(batch))]

    def close(self, *, at_once: bool = False) -> None:
        """Do nothing: there is nobody to let go."""


class Processes:
    """Pool of *workers* processes on this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._running: dict[Future[Any], Batch] = {}
        self._executor = self._started()
        for _ in range(workers):
            self._executor.submit(make_ready)

    def submit(self, batch: Batch) -> None:
        """Give *batch* to the executor."""
        self._running[self._executor.submit(run_batch, batch)] = batch

    def finished(self) -> Finished:
        """Return what is over; when a process has died, all that ran is lost, and others are started."""
        done, _ = wait(self._running, PATIENCE_S, FIRST_COMPLETED)
        found = [(self._running.pop(future), outcome_of(future)) for future in done]
        if any(isinstance(outcome, Lost) for _, outcome in found) and not self._running:
            self._executor.shutdown(kill_workers=True)
            self._executor = self._started()
        return found

    def close(self, *, at_once: bool = False) -> None:
        """End the processes."""
        if at_once:
            self._settle()
        self._executor.shutdown(wait=not at_once, kill_workers=at_once)

    def _settle(self) -> None:
        """Wait, half a second at most, until every batch is with the workers, by sending another after them.

        One that is still on its way when they are killed makes loky print a traceback.
        """
        end_s = time.monotonic() + 0.5
        with suppress(RuntimeError):
            last = self._executor.submit(int)
            while not (last.running() or last.done()) and time.monotonic() < end_s:
                time.sleep(0.01)

    def _started(self) -> Any:
        from joblib.externals.loky.process_executor import ProcessPoolExecutor

        return ProcessPoolExecutor(self.workers, initializer=begin, initargs=(os.getpid(),), env=_ONE_THREAD)


def outcome_of(future: Future[Any]) -> list[Outcome] | Lost:
    """Return what came of a batch that is over."""
    error = future.exception()
    return Lost(reason(error)) if error else future.result()
