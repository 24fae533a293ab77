"""Family of workers: processes of this machine that are started together, and pipes to each of them."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Any

from psm_sim.processes import cores, processes_for

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

_CODE = "import sys; sys.path[:] = {}; from psm_sim.campaign.sweep.worker import main; main({}, {})"

LEAVE_S = 5.0
"""Seconds that a worker with nothing left to do has to end by itself."""

_MOMENT_S = 0.1


class Gone:
    """Message of a worker: it has ended."""


class Ready:
    """Message of a worker: it has imported what it needs."""


class Family:
    """Family of *size* workers, each of which does one thing at a time.

    On Linux one interpreter is started and imports what is needed, and the others are copies of it. Elsewhere
    a library may not survive being copied: each worker is an interpreter of its own.
    """

    def __init__(self, size: int, *, together: bool = sys.platform == "linux") -> None:
        self._messages: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self._started: list[subprocess.Popen[bytes]] = []
        self._pipes: list[tuple[Any, Any]] = []
        with _deaf_to_interrupts():
            for _ in range(1 if together else size):
                self._start(size if together else 1)
        self.pids = [0] * size
        self._listeners = [Thread(target=self._listen, args=(k,), daemon=True) for k in range(size)]
        for listener in self._listeners:
            listener.start()

    def send(self, number: int, what: Any) -> None:
        """Send worker *number* a thing to do; if it is gone, that is told by :meth:`message`."""
        writer = self._pipes[number][0]
        with suppress(OSError):
            pickle.dump(what, writer, pickle.HIGHEST_PROTOCOL)
            writer.flush()

    def message(self, patience_s: float) -> tuple[int, Any] | None:
        """Return the number of a worker and what it says, or None if all are silent for *patience_s* seconds.

        A worker says :class:`Ready`, then an answer for each thing to do, and last :class:`Gone`.
        """
        try:
            return self._messages.get(timeout=patience_s)
        except Empty:
            return None

    def keep(self, size: int) -> None:
        """Let all workers go but the first *size*."""
        for writer, _ in self._pipes[size:]:
            with suppress(OSError):
                writer.close()

    def end(self, *, at_once: bool = False) -> None:
        """End the workers, and wait until they have ended; *at_once*: whatever they are doing."""
        self.keep(0)
        last_s = monotonic() + (0 if at_once else LEAVE_S)
        for process in self._started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, last_s - monotonic()))
        for listener in self._listeners:
            listener.join(0 if at_once else _MOMENT_S)
        self._kill()
        for process in self._started:
            process.wait()
        for listener, (_, reader) in zip(self._listeners, self._pipes, strict=True):
            listener.join()
            reader.close()

    def _kill(self) -> None:
        """Kill whoever is there: who has left has closed its pipe, and its listener has nothing to do."""
        for pid, listener in zip(self.pids, self._listeners, strict=True):
            if pid and listener.is_alive():
                with suppress(OSError):
                    os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        for process in self._started:
            process.kill()

    def _start(self, size: int) -> None:
        """Start an interpreter, with pipes for *size* workers."""
        pairs = [(os.pipe(), os.pipe()) for _ in range(size - 1)]
        theirs = [(down[0], up[1]) for down, up in pairs]
        process = subprocess.Popen(  # noqa: S603
            [*_interpreter(), "-c", _CODE.format(sys.path, os.getpid(), theirs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_ONE_THREAD},
            pass_fds=[end for channel in theirs for end in channel],
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        for end in (end for channel in theirs for end in channel):
            os.close(end)
        self._started.append(process)
        self._pipes.append((process.stdin, process.stdout))
        self._pipes += [(os.fdopen(down[1], "wb"), os.fdopen(up[0], "rb")) for down, up in pairs]

    def _listen(self, number: int) -> None:
        reader = self._pipes[number][1]
        with suppress(Exception):
            self.pids[number] = pickle.load(reader)  # noqa: S301
            self._messages.put((number, Ready()))
            while True:
                self._messages.put((number, pickle.load(reader)))  # noqa: S301
        self._messages.put((number, Gone()))


def _interpreter() -> list[str]:
    """Return the words that start an interpreter with this one's options, such as -W and -X."""
    options = getattr(subprocess, "_args_from_interpreter_flags", list)
    return [sys.executable, *options()]


@contextmanager
def started_ahead(workers: int | None, *, wanted: bool) -> Iterator[Family | None]:
    """Start workers that make ready while this process does, and end them after the block.

    Parameters
    ----------
    workers
        The number that will be used if there is enough to do; None: one for each core.
    wanted
        False to start none.
    """
    count = processes_for(sys.maxsize, workers or cores()) if wanted else 1
    if count == 1:
        yield None
        return
    family, finished = Family(count), False
    try:
        yield family
        finished = True
    finally:
        family.end(at_once=not finished)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C: this one does, and ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
