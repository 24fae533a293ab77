"""Parallel map over worker processes that end with their parent process."""

from __future__ import annotations

import inspect
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
Output = TypeVar("Output")

MAX_PER_CORE = 4
"""Maximum number of processes per core; more of them only use memory."""

_CHECK_S = 1.0
_SHARE = Path("/sys/fs/cgroup/cpu.max")
_watched = False


def parallel_map(
    function: Callable[[Item], Output], items: Sequence[Item], workers: int | None = None
) -> Iterator[Output]:
    """Yield ``function(item)`` for each item, in the order of the items.

    Parameters
    ----------
    function : callable
        Module-level function, so that other processes can import it.
    items : sequence
        Arguments of the calls.
    workers : int or None
        Number of processes; None uses one per core. It is limited to the number of items and to
        :data:`MAX_PER_CORE` per core. A single worker runs in this process.
    """
    count = process_count(len(items), workers)
    if count <= 1:
        yield from map(function, items)
        return
    from joblib import Parallel, delayed

    parent, options = os.getpid(), {}
    if "backend_kwargs" in inspect.signature(Parallel).parameters:
        options = {"initializer": init_worker, "initargs": (parent,)}
    jobs = (delayed(_call)(function, item, parent) for item in items)
    with suppress(ImportError):  # started first, like the tracker in ignore_sigint()
        from joblib.externals.loky.backend import resource_tracker

        resource_tracker.ensure_running()
    with ignore_sigint():
        results = Parallel(n_jobs=count, return_as="generator", **options)(jobs)
    yield from results


def process_count(items: int, workers: int | None) -> int:
    """Return the number of processes for *items* if *workers* are requested; None requests all cores."""
    cores = os.cpu_count() or 1
    return min(workers or cores, items, MAX_PER_CORE * cores)


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


def init_worker(parent: int) -> None:
    """Set up a worker process that prints to standard error and ends with the process *parent*."""
    global _watched  # noqa: PLW0603 (once in each process)
    if _watched or os.getpid() == parent:
        return
    _watched = True
    run_as_worker(partial(_wait_for_exit, parent))


def run_as_worker(wait_for_parent: Callable[[], None]) -> None:
    """Leave standard output and Ctrl-C to the parent process, and end with it.

    Output of this process goes to standard error. *wait_for_parent* returns when the parent has ended.
    """
    sys.stdout = sys.stderr
    with suppress(OSError):  # a closed standard error needs no redirection
        os.dup2(2, 1)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_after, args=(wait_for_parent,), daemon=True).start()


def _exit_after(wait_for_parent: Callable[[], None]) -> None:
    wait_for_parent()
    os._exit(1)


def _wait_for_exit(parent: int) -> None:
    # A killed parent sends no message, but its children are adopted by another process.
    while os.getppid() == parent:
        time.sleep(_CHECK_S)


def _call(function: Callable[[Any], Output], item: Any, parent: int) -> Output:
    init_worker(parent)
    return function(item)


@contextmanager
def ignore_sigint() -> Iterator[None]:
    """Start processes that ignore Ctrl-C; this process handles it and ends them without tracebacks."""
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
