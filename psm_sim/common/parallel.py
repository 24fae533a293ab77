"""Parallel execution of functions in worker processes that end with their parent process."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from psm_sim.common.errors import CommandTerminated, InputError
from psm_sim.common.signal_handling import ending_signals
from psm_sim.common.user_code_guards import is_memory_spent, limit_user_code

Item = TypeVar("Item")
Output = TypeVar("Output")

MAX_PER_CORE = 4
"""Maximum number of processes per core; more of them only use memory."""

WORKER_DIED = "its process has ended. The task may have ended it, or it was killed or ran out of memory."

_POLL_TIMEOUT_S = 0.5
"""Maximum wait in seconds, because Ctrl-C does not end a wait on Windows."""

_EXIT_TIMEOUT_S = 0.5
"""Time to exit in seconds, before a process is killed."""

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
    """End of the worker process that ran a task."""


def parallel_map(
    function: Callable[[Item], Output], items: Sequence[Item], workers: int | None = None
) -> Iterator[Output]:
    """Yield ``function(item)`` for each item, in the order of the items.

    Parameters
    ----------
    function : callable
        Function without side effects. It is called in another process unless there is a single worker.
    items : sequence
        Arguments of the calls.
    workers : int or None
        Number of processes; None uses one per core. It is limited to the number of items and to
        :data:`MAX_PER_CORE` per core. A single worker runs in this process.

    Raises
    ------
    WorkerDiedError
        If two processes in turn ended during the same call.
    """
    count = process_count(len(items), workers)
    if count <= 1:
        yield from map(function, items)
        return
    queue, results, died = deque(enumerate(items)), dict[int, Output | BaseException](), set[int]()
    following = 0
    for (index, item), found in unordered_map(partial(_call_second, function), queue, count):
        if isinstance(found, WorkerDiedError) and index not in died:
            died.add(index)
            queue.append((index, item))  # the process may have been killed for another reason
            continue
        results[index] = found
        while following in results:
            result = results.pop(following)
            following += 1
            if isinstance(result, WorkerDiedError):
                raise WorkerDiedError(f"Task {following} of {len(items)} returned no result: {result}")
            if isinstance(result, BaseException):
                raise result
            yield result


def unordered_map(
    function: Callable[[Item], Output], items: deque[Item], workers: int, here: bool = False
) -> Generator[tuple[Item, Output | BaseException], None, None]:
    """Yield each item with its result, in the order in which the calls finish.

    *function* is called in *workers* processes, or in this process if *here* is true. The caller may append
    to *items* during the iteration. The result is the exception of the call if it failed. It is a
    :class:`WorkerDiedError` if the process of the call has ended.
    """
    if here:
        while items:
            item = items.popleft()
            yield item, _call_here(function, item)
        return
    # One executor per process: the end of a process breaks its executor, and all calls of that fail.
    idle = [_new_executor() for _ in range(workers)]
    running: dict[Future[bytes], tuple[ProcessPoolExecutor, Item]] = {}
    finished: list[tuple[Item, Output | BaseException]] = []
    try:
        while items or running or finished:
            while items and idle:
                executor, item = idle.pop(), items.popleft()
                running[_submit(executor, function, item)] = executor, item
            yield from finished  # while the workers are busy
            done = wait(running, _POLL_TIMEOUT_S, FIRST_COMPLETED).done if running else ()
            finished = []
            for future in done:
                executor, item = running.pop(future)
                result, is_spent = _result(future)
                if is_spent:
                    _kill(executor)
                    executor = _new_executor()
                idle.append(executor)
                finished.append((item, result))
    finally:
        for executor in (*idle, *(executor for executor, _ in running.values())):
            _kill(executor)


def call_in_session(function: Callable[[], int]) -> NoReturn:  # pragma: no cover (in a child)
    """Exit with the status of ``function()``, which a child process calls in a session of its own.

    Nothing that it starts outlives this process, which must not have started threads yet. Signals that end a
    command are passed on; a second one kills the child. Ctrl-Z pauses both processes.

    Raises
    ------
    WorkerDiedError
        If user code has ended the child.
    """
    finished, parent, received = mmap.mmap(-1, 1), os.getpid(), list[int]()  # shared with the child
    child = os.fork()
    if child == 0:
        os.setsid()
        threading.Thread(target=_exit_after, args=(parent,), daemon=True).start()
        limit_user_code()
        status = _status_of(function)
        finished[0] = 1 + status
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, _EXIT_TIMEOUT_S)  # user code may have left threads
        sys.exit(status)

    def pass_on(number: int, _: object) -> None:
        os.kill(child, signal.SIGKILL if received else number)
        received.append(number)

    def pause(*_: object) -> None:
        for process in (child, os.getpid()):
            os.kill(process, signal.SIGSTOP)

    for number in ending_signals():
        signal.signal(number, pass_on)
    signal.signal(signal.SIGTSTP, pause)
    signal.signal(signal.SIGCONT, lambda *_: os.kill(child, signal.SIGCONT))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    _kill_group(child)
    if finished[0]:
        sys.exit(finished[0] - 1)
    if received:
        raise CommandTerminated("interrupted.", 128 + received[0])
    raise WorkerDiedError(f"signal {-status}" if status < 0 else f"exit status {status}")


def _status_of(function: Callable[[], int]) -> int:  # pragma: no cover (in a child)
    try:
        return function()
    except SystemExit as error:  # after --help
        return int(error.code or 0)


def start_session(function: Callable[..., None], *arguments: Any) -> BaseProcess:
    """Start a process that calls *function*, in a session of its own. End it with :func:`end_session`."""
    with _worker_environment():
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=_call_in_session, args=(function, *arguments), daemon=True)
        process.start()
    return process


def end_session(process: BaseProcess) -> None:
    """Wait for the end of the process for a moment, then kill it and the processes that it started."""
    process.join(_EXIT_TIMEOUT_S)
    _kill_group(process.pid)
    process.kill()
    process.join()


def process_count(items: int, workers: int | None) -> int:
    """Return the number of processes for *items* if *workers* are requested; None requests all cores."""
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


def _call_second(function: Callable[[Item], Output], pair: tuple[int, Item]) -> Output:
    return function(pair[1])


def _call_here(function: Callable[[Item], Output], item: Item) -> Output | BaseException:
    try:
        return function(item)
    except Exception as error:
        return error


def _new_executor() -> ProcessPoolExecutor:
    with _worker_environment():
        # Processes are spawned on all systems, because libraries may not be safe to fork.
        return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _init_worker)


def _submit(executor: ProcessPoolExecutor, function: Callable[[Item], Any], item: Item) -> Future[bytes]:
    import cloudpickle  # pickles classes of the user's script by value, too

    call = cloudpickle.dumps((function, item))
    try:
        with _worker_environment():  # the first call starts the process
            return executor.submit(_call_pickled, call)
    except BrokenProcessPool as error:  # the idle process has ended
        future: Future[bytes] = Future()
        future.set_exception(error)
        return future


def _call_pickled(call: bytes) -> bytes:  # pragma: no cover (in a worker)
    import cloudpickle

    function, item = pickle.loads(call)  # noqa: S301 (from the parent process)
    try:
        result = function(item)
    except Exception as error:
        if not is_memory_spent():
            raise
        result = error
    pickled: bytes = cloudpickle.dumps((result, is_memory_spent()))
    return pickled


def _result(future: Future[bytes]) -> tuple[Any, bool]:
    """Return the result of a call or its exception, and whether its process is of no more use."""
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        return WorkerDiedError(WORKER_DIED), True
    return (error, False) if error else pickle.loads(future.result())  # noqa: S301 (from a worker)


def _kill(executor: ProcessPoolExecutor) -> None:
    # As kill_workers() of Python 3.14. A shutdown alone would wait for the running call, and cancelling
    # calls makes the thread of the executor print a traceback.
    for process in list((executor._processes or {}).values()):
        _kill_group(process.pid)
        process.kill()
    executor.shutdown()


def _init_worker() -> None:  # pragma: no cover (in a worker)
    """Leave standard output and Ctrl-C to the parent process, and end with it.

    Output of this process goes to standard error. It leads a session, so that its own processes end with it.
    """
    if hasattr(os, "setsid"):
        os.setsid()
    sys.stdout = sys.stderr
    with suppress(OSError):  # a closed standard error needs no redirection
        os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_user_code()
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:  # pragma: no cover (in a worker)
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _kill_group(os.getpid())
        os._exit(1)


def _exit_after(parent: int) -> None:  # pragma: no cover (in a child)
    while os.getppid() == parent:
        time.sleep(_EXIT_TIMEOUT_S)
    _kill_group(os.getpid())


def _call_in_session(function: Callable[..., None], *arguments: Any) -> None:  # pragma: no cover (there)
    _init_worker()
    function(*arguments)
    _kill_group(os.getpid())  # also the processes that user code has left


def _kill_group(leader: int | None) -> None:
    """Kill the process group of a *leader*; do nothing if the process leads none."""
    if hasattr(os, "killpg") and leader:
        with suppress(OSError):
            os.killpg(leader, signal.SIGKILL)


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Set the state that a process started in the block inherits.

    The process gets the environment variables of workers, ignores Ctrl-C, and has an empty main module.
    Otherwise it would run the user's script again, which may lack an ``if __name__ == "__main__"`` guard.
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

    # Starting the tracker unblocks the signal, so it has to run already.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
