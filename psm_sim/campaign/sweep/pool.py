"""Pools: workers that do batches, in this process or in processes of this machine."""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from psm_sim.campaign.sweep.family import Family, Gone, Ready
from psm_sim.campaign.sweep.outcome import Lost, Outcome
from psm_sim.campaign.sweep.work import Batch, run_batch

PATIENCE_S = 0.2
"""Seconds after which a pool comes back without a finished batch, so that an interrupt is heard."""

_GONE = "its process has ended. Did the task end it, was it killed, or was there no memory left?"

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
    """Pool of *workers* processes on this machine: a family that is started now, or has been before."""

    def __init__(self, workers: int, family: Family | None = None) -> None:
        self.workers = workers
        self._given = family
        self._family = family or Family(workers)
        self._family.keep(workers)
        self._waiting: deque[Batch] = deque()
        self._free: list[int] = []
        self._doing: dict[int, Batch] = {}

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes; 0 for one that is not ready yet."""
        return self._family.pids[: self.workers]

    def submit(self, batch: Batch) -> None:
        """Give *batch* to a worker that is free, or to the first that will be."""
        self._waiting.append(batch)
        self._give()

    def finished(self) -> Finished:
        """Return what is over; when a process has died, all that ran is lost, and others are started."""
        found: Finished = []
        message = self._family.message(PATIENCE_S)
        while message:
            found += self._heard(*message)
            message = self._family.message(0)
        return found

    def close(self, *, at_once: bool = False) -> None:
        """End the processes; those that were given are only told to end, if there is no hurry."""
        if at_once or self._family is not self._given:
            self._family.end(at_once=at_once)
        else:
            self._family.keep(0)

    def _heard(self, number: int, said: Any) -> Finished:
        if number >= self.workers:
            return []
        if isinstance(said, Gone):
            return self._lost()
        self._free.append(number)
        found = [] if isinstance(said, Ready) else [(self._doing.pop(number), said)]
        self._give()
        return found

    def _give(self) -> None:
        while self._waiting and self._free:
            number, batch = self._free.pop(0), self._waiting.popleft()
            self._doing[number] = batch
            self._family.send(number, batch)

    def _lost(self) -> Finished:
        """Start another family; what waits is lost as well if nothing ran, or this would go on for ever."""
        if not self._doing:
            self._doing, self._waiting = dict(enumerate(self._waiting)), deque()
        lost: Finished = [(batch, Lost(_GONE)) for batch in self._doing.values()]
        self._family.end(at_once=True)
        self._family = Family(self.workers)
        self._free, self._doing = [], {}
        return lost
