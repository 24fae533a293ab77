"""Worker pools that run batches in this process or in local worker processes."""

from __future__ import annotations

from collections import deque
from multiprocessing.connection import wait
from typing import Protocol

from psm_sim.campaign.sweep.task_batches import Batch, run_batch
from psm_sim.campaign.sweep.task_outcome import Outcome
from psm_sim.campaign.sweep.worker import Worker, WorkerLost

POLL_TIMEOUT_S = 0.2
"""Maximum wait for a finished batch in seconds, so that interrupts are handled promptly."""

BatchResult = list[tuple[Batch, "list[Outcome] | WorkerLost"]]


class Pool(Protocol):
    """Workers that run batches in any order."""

    @property
    def workers(self) -> int:
        """Number of batches that run concurrently."""

    def submit(self, batch: Batch) -> None:
        """Submit *batch* to the next free worker."""

    def finished(self) -> BatchResult:
        """Return the finished batches. Wait at most :data:`POLL_TIMEOUT_S` for the first one."""

    def close(self, *, at_once: bool = False) -> None:
        """Release the workers. If *at_once* is true, do not wait for running batches."""


class SerialPool:
    """Pool without worker processes. :meth:`finished` runs the batches in this process."""

    workers = 1

    def __init__(self) -> None:
        self._waiting: list[Batch] = []

    def submit(self, batch: Batch) -> None:
        """Queue *batch* for :meth:`finished`."""
        self._waiting.append(batch)

    def finished(self) -> BatchResult:
        """Run the oldest batch and return its outcomes."""
        batch = self._waiting.pop(0)
        return [(batch, run_batch(batch))]

    def close(self, *, at_once: bool = False) -> None:
        """Do nothing, because a serial pool has no workers."""


class ProcessPool:
    """Pool of local worker processes. A dead worker is replaced when the next batch needs one.

    Parameters
    ----------
    workers : int
        Number of processes.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._waiting: deque[Batch] = deque()
        self._free = [Worker() for _ in range(workers)]
        self._busy: dict[Worker, Batch] = {}

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [worker.pid for worker in (*self._busy, *self._free)]

    def submit(self, batch: Batch) -> None:
        """Send *batch* to a free worker, or queue it until one is free."""
        self._waiting.append(batch)
        self._dispatch()

    def finished(self) -> BatchResult:
        """Return the finished batches. The batch of a dead worker has a :class:`WorkerLost` as its result."""
        by_pipe = {worker.pipe: worker for worker in self._busy}
        results: BatchResult = []
        for pipe in wait(list(by_pipe), POLL_TIMEOUT_S):
            worker = by_pipe[pipe]
            result = worker.answer()
            results.append((self._busy.pop(worker), result))
            if worker.is_gone:
                worker.end(at_once=True)
            else:
                self._free.append(worker)
        self._dispatch()
        return results

    def close(self, *, at_once: bool = False) -> None:
        """Stop the processes."""
        workers = [*self._free, *self._busy]
        for worker in workers:
            worker.shut_down()
        for worker in workers:
            worker.end(at_once=at_once)

    def _dispatch(self) -> None:
        while self._waiting and len(self._busy) < self.workers:
            worker = self._free.pop(0) if self._free else Worker()
            self._busy[worker] = self._waiting.popleft()
            worker.send(self._busy[worker])
