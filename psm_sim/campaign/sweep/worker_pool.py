"""Pools: workers that do batches, in this process or in processes of this machine."""

from __future__ import annotations

from collections import deque
from multiprocessing.connection import wait
from typing import Protocol

from psm_sim.campaign.sweep.jobs import Batch, run_batch
from psm_sim.campaign.sweep.outcome import Outcome
from psm_sim.campaign.sweep.worker import Worker, WorkerLost

POLL_TIMEOUT_S = 0.2
"""Seconds after which a pool comes back without a finished batch, so that an interrupt is heard."""

BatchResult = list[tuple[Batch, "list[Outcome] | WorkerLost"]]


class Pool(Protocol):
    """Workers that do batches, in any order."""

    @property
    def workers(self) -> int:
        """The number of batches that are done at once."""

    def submit(self, batch: Batch) -> None:
        """Let a worker do *batch* as soon as one is free."""

    def finished(self) -> BatchResult:
        """Return the batches that are over, waiting a short while for the first."""

    def close(self, *, at_once: bool = False) -> None:
        """Let the workers go; *at_once*: whatever they are doing."""


class SerialPool:
    """Pool without a worker of its own: batches are done when their outcomes are asked for."""

    workers = 1

    def __init__(self) -> None:
        self._waiting: list[Batch] = []

    def submit(self, batch: Batch) -> None:
        """Keep *batch* for :meth:`finished`."""
        self._waiting.append(batch)

    def finished(self) -> BatchResult:
        """Do the oldest batch."""
        batch = self._waiting.pop(0)
        return [(batch, run_batch(batch))]

    def close(self, *, at_once: bool = False) -> None:
        """Do nothing: there is nobody to let go."""


class ProcessPool:
    """Pool of *workers* processes on this machine; one that dies is replaced when there is a batch for it."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._waiting: deque[Batch] = deque()
        self._free = [Worker() for _ in range(workers)]
        self._busy: dict[Worker, Batch] = {}

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [worker.pid for worker in (*self._busy, *self._free)]

    def submit(self, batch: Batch) -> None:
        """Give *batch* to a worker that is free, or to the first that will be."""
        self._waiting.append(batch)
        self._give()

    def finished(self) -> BatchResult:
        """Return what is over; of a worker that has died its batch is lost."""
        by_pipe = {worker.pipe: worker for worker in self._busy}
        found: BatchResult = []
        for pipe in wait(list(by_pipe), POLL_TIMEOUT_S):
            worker = by_pipe[pipe]
            answer = worker.answer()
            found.append((self._busy.pop(worker), answer))
            if worker.is_gone:
                worker.end(at_once=True)
            else:
                self._free.append(worker)
        self._give()
        return found

    def close(self, *, at_once: bool = False) -> None:
        """End the processes."""
        workers = [*self._free, *self._busy]
        for worker in workers:
            worker.shut_down()
        for worker in workers:
            worker.end(at_once=at_once)

    def _give(self) -> None:
        while self._waiting and len(self._busy) < self.workers:
            worker = self._free.pop(0) if self._free else Worker()
            self._busy[worker] = self._waiting.popleft()
            worker.send(self._busy[worker])
