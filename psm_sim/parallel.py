"""Processes: independent pieces of work on several cores, and nothing of them left when the program ends."""

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
Found = TypeVar("Found")

MAX_PER_CORE = 4
"""The largest number of processes for each core: more of them only take memory."""

_CHECK_S = 1.0
_SHARE = Path("/sys/fs/cgroup/cpu.max")
_watched = False


def parallel_map(
    function: Callable[[Item], Found], items: Sequence[Item], workers: int | None = None
) -> Iterator[Found]:
    """Yield ``function(item)`` for each item, in their order.

    Parameters
    ----------
    function
        A function of a module, so that other processes find it.
    items
        What it is called with.
    workers
        The number of processes wanted; ``None``: one for each core. There are never more than items, nor
        more than :data:`MAX_PER_CORE` for each core. With one of them all is done in this process.
    """
    count = process_count(len(items), workers)
    if count <= 1:
        yield from map(function, items)
        return
    from joblib import Parallel, delayed

    parent, options = os.getpid(), {}
    if "backend_kwargs" in inspect.signature(Parallel).parameters:
        options = {"initializer": init_worker, "initargs": (parent,)}
    jobs = (delayed(_called)(function, item, parent) for item in items)
    with suppress(ImportError):  # as the tracker of deaf_to_interrupts()
        from joblib.externals.loky.backend import resource_tracker

        resource_tracker.ensure_running()
    with ignore_sigint():
        results = Parallel(n_jobs=count, return_as="generator", **options)(jobs)
    yield from results


def process_count(items: int, workers: int | None) -> int:
    """Return the number of processes that are used for some items where *workers* are wanted."""
    every = os.cpu_count() or 1
    return min(workers or every, items, MAX_PER_CORE * every)


def cpu_count() -> int:
    """Return the number of cores that this process may use, where its share is limited too."""
    every = os.cpu_count() or 1
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else every
    return max(1, min(every, mine, _share()))


def _share() -> int:
    """Return the cores that a control group of Linux grants, the last one perhaps in part."""
    with suppress(OSError, ValueError):
        quota, period = _SHARE.read_text(encoding="ascii").split()
        return -(-int(quota) // int(period))
    return sys.maxsize


def init_worker(parent: int) -> None:
    """Prepare a process: what it prints goes to standard error, and it ends when *parent* has ended."""
    global _watched  # noqa: PLW0603 (once in each process)
    if _watched or os.getpid() == parent:
        return
    _watched = True
    run_as_worker(partial(_wait_for_end_of, parent))


def run_as_worker(parent_ends: Callable[[], None]) -> None:
    """Leave standard output and Ctrl-C to the parent, and end with it: what it prints goes to standard error.

    *parent_ends* returns when the parent has ended.
    """
    sys.stdout = sys.stderr
    with suppress(OSError):  # one that has been closed takes nothing anyway
        os.dup2(2, 1)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_after, args=(parent_ends,), daemon=True).start()


def _end_after(parent_ends: Callable[[], None]) -> None:
    parent_ends()
    os._exit(1)


def _wait_for_end_of(parent: int) -> None:
    # A process that is killed tells nobody; who has lost its parent is given to another.
    while os.getppid() == parent:
        time.sleep(_CHECK_S)


def _called(function: Callable[[Any], Found], item: Any, parent: int) -> Found:
    init_worker(parent)
    return function(item)


@contextmanager
def ignore_sigint() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C: this one does, and ends them without their tracebacks."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # Its start lets the signal through again: it has to run before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
