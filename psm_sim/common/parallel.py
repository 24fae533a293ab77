"""Parallel execution of functions in worker processes that end with their parent process."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from psm_sim.common.errors import CommandTerminated, InputError
from psm_sim.common.progress import Progress, no_progress
from psm_sim.common.signal_handling import ending_signals
from psm_sim.common.user_code_guards import STUCK, is_memory_spent, limit_user_code

_Item = TypeVar("_Item")
_Output = TypeVar("_Output")

MAX_PER_CORE = 4
"""Maximum number of processes per core; further processes would only use memory."""

_POLL_TIMEOUT_S = 0.5
"""Maximum wait in seconds, because Ctrl-C does not end a wait on Windows."""

_EXIT_TIMEOUT_S = 0.5
"""Seconds that a process has to exit before it is killed."""

MAX_PRINTED = 64 << 20
"""Bytes that a call may write to standard output and error; more indicate an endless loop."""

_SHARE = Path("/sys/fs/cgroup/cpu.max")
_ENVIRONMENT = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH"), "1"
)
"""Environment variables of workers.

Numerical libraries use one thread per worker. Python does not import modules from the working directory,
because a file of the user could shadow a library there.
"""


_LOCK = threading.Lock()
"""Lock of the environment, because a worker of Dask starts processes in several threads."""


class WorkerDiedError(InputError):
    """Error of a task whose worker process ended before the task."""


@dataclass(frozen=True)
class Ended:
    """Message that a call has ended.

    ``error`` is the exception of the call, a :class:`WorkerDiedError` if its process died, or None.
    ``is_last`` is true if the process cannot run another call.
    """

    error: BaseException | None = None
    is_last: bool = False


def unordered_map(
    function: Callable[[_Item], Iterable[_Output]],
    items: deque[_Item],
    workers: int,
    here: bool = False,
    progress: Progress = no_progress,
) -> Generator[tuple[_Item, _Output | Ended], None, None]:
    """Yield (item, value) for each value of ``function(item)`` as it arrives, then (item, :class:`Ended`).

    *function* is called in *workers* processes, or in this process if *here* is true. The caller may append
    to *items* during the iteration. *progress* is called in this process with the arguments of each
    :func:`report_progress` in *function*.
    """
    if here:
        while items:
            item = items.popleft()
            yield from ((item, value) for value in _call_here(function, item))
        return
    import cloudpickle  # pickles classes of the user's script by value, too

    idle = list[Session]()
    running: dict[Any, tuple[Session, _Item]] = {}
    received: list[tuple[_Item, _Output | Ended]] = []
    try:
        while items or running or received:
            while items and len(running) < workers:
                session, item = idle.pop() if idle else Session(_serve_calls), items.popleft()
                running[session.channel] = session, item
                with suppress(OSError):  # fails if the idle process has ended
                    session.channel.send_bytes(cloudpickle.dumps((function, item)))
            yield from received  # the caller handles them while the workers are busy
            received = []
            for channel in wait(list(running), _POLL_TIMEOUT_S) if running else ():
                session, item = running[channel]
                value = _receive(session)
                if isinstance(value, _Reported):
                    progress(*value.arguments)
                    continue
                received.append((item, value))
                if isinstance(value, Ended):
                    del running[channel]
                    session.printed[0] = 0
                    if value.is_last:
                        session.end()
                    else:
                        idle.append(session)
    finally:
        for session in (*idle, *(session for session, _ in running.values())):
            session.end()


def report_progress(*arguments: Any) -> None:
    """Call the *progress* of :func:`unordered_map` in the parent process; do nothing outside a worker."""
    if _channel:
        _channel[0].send_bytes(pickle.dumps(_Reported(arguments)))


@dataclass(frozen=True)
class _Reported:
    """Progress of a call."""

    arguments: tuple[Any, ...]


_channel: list[Connection] = []
"""Channel to the parent process of a worker."""


class Session:
    """Process in its own session, and a pipe to this process.

    Garbage collection of this object kills the process and its children if they still run.

    Parameters
    ----------
    serve : callable
        Function that the process calls with its end of the pipe and the *arguments*.

    Attributes
    ----------
    channel : Connection
        Pipe to the process.
    end : callable
        Function that kills the processes.
    printed : list of int
        List of one number: the bytes that the process has printed since the caller set the number to 0.
    """

    def __init__(self, serve: Callable[..., None], *arguments: Any) -> None:
        self.channel, other_end = multiprocessing.Pipe()
        printed, printing = multiprocessing.Pipe(duplex=False)
        # multiprocessing forbids a daemon, such as a worker of Dask, to start processes.
        multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
        with _worker_environment():
            # Processes are spawned on all systems, because libraries may not be safe to fork.
            context = multiprocessing.get_context("spawn")
            process = context.Process(
                target=_call_in_session, args=(printing, serve, other_end, *arguments), daemon=True
            )
            process.start()
        other_end.close()
        printing.close()
        self._process, self.printed = process, [0]
        forwarder = threading.Thread(target=_forward, args=(printed, self.printed, process), daemon=True)
        forwarder.start()
        self.end = weakref.finalize(self, _end_session, self.channel, process, forwarder)

    def reason_of_end(self) -> str:
        """Return why the process has closed the pipe without a result."""
        self._process.join(_EXIT_TIMEOUT_S)
        if self.printed[0] > MAX_PRINTED:
            return f"it has printed more than {MAX_PRINTED >> 20} MB."
        return _reason_of(self._process.exitcode)


def _reason_of(status: int | None) -> str:
    """Return the reason why a process has closed its pipe, for error messages.

    *status* is its exit status, minus the number of the signal that ended it, or None if it still runs.
    """
    if status is None:
        return "its process has closed the connection."
    if status >= 0:
        return f"its process has ended with exit status {status}."
    if status == -signal.SIGVTALRM:
        return f"{STUCK}."
    remark = "; perhaps out of memory" if status == -9 else ""
    return f"its process has ended by signal {-status} ({signal.strsignal(-status)}{remark})."


def _end_session(channel: Connection, process: BaseProcess, forwarder: threading.Thread) -> None:
    channel.close()
    _kill_group(process.pid)
    process.kill()
    process.join()
    forwarder.join(_EXIT_TIMEOUT_S)


def _forward(source: Connection, printed: list[int], process: BaseProcess) -> None:
    """Copy *source* to standard error, and count the bytes in *printed*.

    Kill the group of *process* if the count exceeds :data:`MAX_PRINTED`.
    """
    last = b"\n"
    with source, suppress(OSError):
        while data := os.read(source.fileno(), 1 << 16):
            last = data[-1:]
            with suppress(OSError):  # standard error may be closed
                os.write(2, data)
            printed[0] += len(data)
            if printed[0] > MAX_PRINTED:
                _kill_group(process.pid)
        if last != b"\n":  # so that the next message begins a line
            os.write(2, b"\n")


def call_in_session(function: Callable[[], int]) -> NoReturn:  # pragma: no cover (in a child)
    """Call ``function()`` in a child process with its own session, and exit with the returned status.

    When this process ends, the processes that the child has started end, too. This process must not have
    started threads. Terminating signals are passed to the child. A second signal kills the child. Ctrl-Z
    pauses both processes.

    Raises
    ------
    WorkerDiedError
        If the child ends before ``function()`` returns.
    """
    finished, received = mmap.mmap(-1, 1), list[int]()  # finished is shared with the child
    child = multiprocessing.get_context("fork").Process(target=_call_and_note, args=(function, finished))
    child.start()
    leader = child.pid or 0

    def pass_on(number: int, _: object) -> None:
        os.kill(leader, signal.SIGKILL if received else number)
        received.append(number)

    def pause(*_: object) -> None:
        for process in (leader, os.getpid()):
            os.kill(process, signal.SIGSTOP)

    for number in ending_signals():
        signal.signal(number, pass_on)
    signal.signal(signal.SIGTSTP, pause)
    signal.signal(signal.SIGCONT, lambda *_: os.kill(leader, signal.SIGCONT))
    child.join()
    _kill_group(leader)
    if finished[0]:
        sys.exit(finished[0] - 1)
    if received:
        raise CommandTerminated("interrupted.", 128 + received[0])
    raise WorkerDiedError(_reason_of(child.exitcode))


def _call_and_note(function: Callable[[], int], finished: mmap.mmap) -> None:  # pragma: no cover (there)
    _lead_session()
    try:
        finished[0] = 1 + function()
    except SystemExit as error:  # after --help
        finished[0] = 1 + int(error.code or 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, _EXIT_TIMEOUT_S)  # user code may have left threads


def process_count(items: int, workers: int | None) -> int:
    """Return *workers*, or the number of cores if None, limited to *items* and :data:`MAX_PER_CORE`."""
    return min(workers or cpu_count(), items, MAX_PER_CORE * (os.cpu_count() or 1))


def cpu_count() -> int:
    """Return the number of cores that this process may use, limited by affinity and control group."""
    cores = os.cpu_count() or 1
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    return max(1, min(cores, affinity, _cgroup_cores()))


def _cgroup_cores() -> int:
    """Return the CPU quota of the Linux control group, rounded up to whole cores."""
    with suppress(OSError, ValueError):
        quota, period = _SHARE.read_text(encoding="ascii").split()
        return -(-int(quota) // int(period))
    return sys.maxsize


def _call_here(function: Callable[[_Item], Iterable[_Output]], item: _Item) -> Iterator[_Output | Ended]:
    try:
        yield from function(item)
    except Exception as error:
        yield Ended(error)
    else:
        yield Ended()


def _serve_calls(channel: Connection) -> None:  # pragma: no cover (in a worker)
    import cloudpickle

    _channel.append(channel)
    with suppress(EOFError, OSError):
        while True:
            call, ended = channel.recv_bytes(), Ended()
            try:
                function, item = pickle.loads(call)  # noqa: S301 (from the parent process)
                for value in function(item):
                    channel.send_bytes(cloudpickle.dumps(value))
            except BaseException as error:
                error.add_note(traceback.format_exc())
                ended = Ended(error)
            channel.send_bytes(cloudpickle.dumps(replace(ended, is_last=is_memory_spent())))


def _receive(session: Session) -> Any:
    """Return the next message of a worker: a value of a call, its progress, or its end."""
    try:
        return pickle.loads(session.channel.recv_bytes())  # noqa: S301 (from a worker)
    except (EOFError, OSError):
        return Ended(WorkerDiedError(session.reason_of_end()), is_last=True)


def _lead_session() -> None:  # pragma: no cover (in a child)
    """Put this process in a new session that ends with the parent process, and limit its user code."""
    if hasattr(os, "setsid"):
        os.setsid()
    limit_user_code()
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _call_in_session(
    printing: Connection, function: Callable[..., None], *arguments: Any
) -> None:  # pragma: no cover (there)
    """Redirect standard output and error to *printing*, start a session, and call *function*."""
    for descriptor in (1, 2):
        os.dup2(printing.fileno(), descriptor)
    printing.close()
    if sys.stderr is None:  # closed in the parent process
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    _lead_session()
    function(*arguments)
    _kill_group(os.getpid())  # also ends processes that user code has started


def _exit_with_parent() -> None:  # pragma: no cover (in a worker)
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _kill_group(os.getpid())
        os._exit(1)


def _kill_group(leader: int | None) -> None:
    """Kill the process group of a *leader*; do nothing if the process leads no group."""
    if hasattr(os, "killpg") and leader:
        with suppress(OSError):
            os.killpg(leader, signal.SIGKILL)


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Set the environment, main module and signal mask that processes started in the block inherit.

    The process gets the environment variables of workers, ignores Ctrl-C, and has an empty main module. With
    another main module, it would run the user's script again, which may lack an ``if __name__ == "__main__"``
    guard.
    """
    with _LOCK:
        environment, main = dict(os.environ), sys.modules["__main__"]
        os.environ.update(_ENVIRONMENT)
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            with _block_sigint():
                yield
        finally:
            sys.modules["__main__"] = main
            for name in _ENVIRONMENT:
                if name in environment:
                    os.environ[name] = environment[name]
                else:
                    del os.environ[name]


@contextmanager
def _block_sigint() -> Iterator[None]:
    """Block SIGINT, so that a process started in the block does not print a traceback while it starts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # The resource tracker is started first, because its start unblocks the signal.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
