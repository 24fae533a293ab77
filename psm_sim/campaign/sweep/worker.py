"""Local worker process that runs one batch at a time."""

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
"""Seconds to wait for an idle worker to exit before it is killed."""

WORKER_DIED = "its process has ended. The task may have ended it, or it was killed or ran out of memory."

_USE_FORKSERVER = sys.platform == "linux"
_CONTEXT: Any = mp.get_context("forkserver" if _USE_FORKSERVER else "spawn")
_BATCH_MODULE = "psm_sim.campaign.sweep.task_batches"
_ENVIRONMENT = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH"), "1"
)
"""Environment variables of workers.

Numerical libraries use one thread per worker. Python does not import modules from the working directory,
because a file of the user could shadow a library there.
"""


class WorkerLost(str):
    """Reason why a batch has no outcomes, e.g. because its worker died."""

    __slots__ = ()


class Worker:
    """Worker process. It starts on construction and answers one batch at a time.

    Attributes
    ----------
    is_gone : bool
        Whether the process is known to have ended.
    """

    def __init__(self) -> None:
        self.is_gone = False
        self.pipe, worker_pipe = _CONTEXT.Pipe()
        preload_forkserver()
        with _worker_environment():
            self.process = _CONTEXT.Process(target=serve, args=(worker_pipe,), daemon=True)
            self.process.start()
        worker_pipe.close()

    @property
    def pid(self) -> int:
        """Process id."""
        return int(self.process.pid)

    def send(self, batch: Any) -> None:
        """Send *batch* to the process. If the process has ended, :meth:`answer` returns the reason."""
        with suppress(OSError):
            self.pipe.send(batch)

    def answer(self) -> Any:
        """Receive the outcomes of the batch, or a :class:`WorkerLost` if there are none."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            self.is_gone = True
            return WorkerLost(WORKER_DIED)

    def shut_down(self) -> None:
        """Close the pipe, so that the process exits after its current batch."""
        self.pipe.close()

    def end(self, *, at_once: bool = False) -> None:
        """Stop the process. Kill it after :data:`SHUTDOWN_TIMEOUT_S`, or immediately if *at_once* is true."""
        self.shut_down()
        self.process.join(0 if at_once else SHUTDOWN_TIMEOUT_S)
        self.process.kill()
        self.process.join()


def preload_forkserver() -> None:
    """Start the fork server on Linux, without waiting for it.

    The fork server imports the modules that a batch needs, and workers are forked from it. On other systems
    libraries may not be safe to fork, so each worker is spawned and imports the modules itself.
    """
    if not _USE_FORKSERVER:
        return
    from multiprocessing.forkserver import ensure_running

    _CONTEXT.set_forkserver_preload([_BATCH_MODULE])
    with _worker_environment():
        ensure_running()


def serve(pipe: Connection) -> None:
    """Run batches until the pipe is closed. This is the main function of a worker process.

    Parameters
    ----------
    pipe : Connection
        Pipe for batches and outcomes. An exception is sent as a :class:`WorkerLost`.
    """
    from psm_sim.campaign.sweep.task_batches import run_batch

    parent = mp.parent_process()
    if parent is not None:
        run_as_worker(parent.join)
    with suppress(EOFError, OSError):
        while True:
            batch = pipe.recv()
            try:
                result: Any = run_batch(batch)
            except BaseException as error:
                result = WorkerLost(describe_error(error))
            pipe.send(result)


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Set the state that a process started in the block inherits.

    The process gets the environment variables of workers, ignores Ctrl-C, and has an empty main module.
    Otherwise it would run the user's script again, which may lack an ``if __name__ == "__main__"`` guard.
    """
    environment, main = dict(os.environ), sys.modules["__main__"]
    with ignore_sigint():
        os.environ.update(_ENVIRONMENT)
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            os.environ.clear()
            os.environ.update(environment)
