"""Worker: a process of this machine that does one batch at a time."""

from __future__ import annotations

import multiprocessing as mp
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

from psm_sim.common.errors import describe_error
from psm_sim.common.parallel import ignore_sigint, run_as_worker

SHUTDOWN_TIMEOUT_S = 5.0
"""Seconds that a worker with nothing left to do has to end by itself."""

WORKER_DIED = "its process has ended. Did the task end it, was it killed, or was there no memory left?"

_TOGETHER = sys.platform == "linux"
_CONTEXT: Any = mp.get_context("forkserver" if _TOGETHER else "spawn")
_WORK = "psm_sim.campaign.sweep.jobs"
_SET = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH"), "1")
"""Variables of workers: one thread each, and no module of the folder they are in in place of a library's."""


class WorkerLost(str):
    """Reason why a batch has come to nothing: its worker is gone, or could not even begin."""

    __slots__ = ()


class Worker:
    """Worker that is started when it is made; what it is sent, a batch at a time, it answers.

    Attributes
    ----------
    is_gone : bool
        Whether it has been found to have ended.
    """

    def __init__(self) -> None:
        self.is_gone = False
        self.pipe, theirs = _CONTEXT.Pipe()
        preload_forkserver()
        with _as_in_a_worker():
            self.process = _CONTEXT.Process(target=serve, args=(theirs,), daemon=True)
            self.process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return int(self.process.pid)

    def send(self, batch: Any) -> None:
        """Let it do *batch*; if it is gone, that is its answer."""
        with suppress(OSError):
            self.pipe.send(batch)

    def answer(self) -> Any:
        """Receive the result of the batch: its outcomes, or a :class:`WorkerLost`."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            self.is_gone = True
            return WorkerLost(WORKER_DIED)

    def shut_down(self) -> None:
        """Tell it that nothing will come any more."""
        self.pipe.close()

    def end(self, *, at_once: bool = False) -> None:
        """Wait for the process to end; kill it *at_once*, or after :data:`SHUTDOWN_TIMEOUT_S` seconds."""
        self.shut_down()
        self.process.join(0 if at_once else SHUTDOWN_TIMEOUT_S)
        self.process.kill()
        self.process.join()


def preload_forkserver() -> None:
    """Let workers make ready, without waiting for it.

    On Linux one process is started that imports what a batch needs, and workers are copies of it. Elsewhere a
    library may not survive being copied: each worker is started, and imports, for itself.
    """
    if not _TOGETHER:
        return
    from multiprocessing.forkserver import ensure_running

    _CONTEXT.set_forkserver_preload([_WORK])
    with _as_in_a_worker():
        ensure_running()


def serve(pipe: Connection) -> None:
    """Answer each batch that comes, until nothing comes: what a worker does.

    Parameters
    ----------
    pipe
        Where batches come from, and outcomes go to. An exception is sent as a :class:`WorkerLost`.
    """
    from psm_sim.campaign.sweep.jobs import run_batch

    parent = mp.parent_process()
    if parent is not None:
        run_as_worker(parent.join)
    with suppress(EOFError, OSError):
        while True:
            batch = pipe.recv()
            try:
                found: Any = run_batch(batch)
            except BaseException as error:
                found = WorkerLost(describe_error(error))
            pipe.send(found)


@contextmanager
def _as_in_a_worker() -> Iterator[None]:
    """Set what a process that is started now takes over: variables, deafness to Ctrl-C, no main module.

    A new process would run the main module again; a user's script need not be made for that.
    """
    before, main = dict(os.environ), sys.modules["__main__"]
    with ignore_sigint():
        os.environ.update(_SET)
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            os.environ.clear()
            os.environ.update(before)
