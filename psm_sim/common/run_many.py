"""Execution of many tasks in this process, in worker processes, or on a Dask cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TypeVar

from psm_sim.common.parallel import Ended, WorkerDiedError, process_count, unordered_map
from psm_sim.common.parameters import Parameter
from psm_sim.common.progress import Progress, no_progress

_Task = TypeVar("_Task")
_Output = TypeVar("_Output")

WORKERS = Parameter("workers", 1, at_least=1, at_most=1024, optional=True)
"""Number of worker processes."""


def run_many(
    function: Callable[[_Task], _Output],
    tasks: Sequence[_Task],
    workers: int | None = None,
    progress: Progress = no_progress,
    unit: str = "",
) -> Iterator[_Output]:
    """Yield ``function(task)`` for each task, in the order of the tasks.

    *function* has no side effects. *workers* is the number of processes. None starts one process per core. A
    single worker runs in this process. *progress* is called with the number of finished tasks whenever a task
    ends. *unit* is the plural name of a task in progress reports, such as ``"seeds"``.

    Raises
    ------
    WorkerDiedError
        If the process of a call dies, and dies again when the call is repeated.
    """
    results = run_in_order(partial(_yield_output, function), tasks, workers, progress, unit)
    for number, (outputs, error) in enumerate(results, 1):
        if isinstance(error, WorkerDiedError):
            raise WorkerDiedError(f"Task {number} of {len(tasks)} returned no result: {error}")
        if error is not None:
            raise error
        yield outputs[0]


def run_in_order(
    function: Callable[[_Task], Iterable[_Output]],
    tasks: Sequence[_Task],
    workers: int | None = None,
    progress: Progress = no_progress,
    unit: str = "",
    isolated: bool = False,
) -> Iterator[tuple[list[_Output], BaseException | None]]:
    """Yield (outputs of ``function(task)``, exception or None) for each task, in the order of the tasks.

    The parameters are as in :func:`run_many`, except that *function* returns an iterable. If *isolated* is
    true, even a single worker is a separate process, and a call whose process dies is not repeated, because
    the call may be the cause. Otherwise, such a call is repeated once, because the process may have been
    killed from outside.
    """
    waiting, running = deque(enumerate(tasks)), dict[int, list[_Output]]()
    ended, died = dict[int, BaseException | None](), set[int]()
    following = 0
    progress(0, len(tasks), "", unit)
    with closing(run_as_completed(partial(_call, function), waiting, workers, isolated=isolated)) as outputs:
        for (number, task), output in outputs:
            if not isinstance(output, Ended):
                running.setdefault(number, []).append(output)
            elif isinstance(output.error, WorkerDiedError) and not isolated and number not in died:
                died.add(number)
                running.pop(number, None)
                waiting.append((number, task))
            else:
                ended[number] = output.error
                progress(following + len(ended), len(tasks), "", unit)
            while following in ended:
                following += 1
                yield running.pop(following - 1, []), ended.pop(following - 1)


def run_as_completed(
    function: Callable[[_Task], Iterable[_Output]],
    tasks: deque[_Task],
    workers: int | None = None,
    cluster: str = "",
    isolated: bool = False,
) -> Generator[tuple[_Task, _Output | Ended], None, None]:
    """Yield (task, output) for each output of ``function(task)`` as it arrives, then (task, :class:`Ended`).

    The caller may append to *tasks* during the iteration. The workers end when the iteration ends. *cluster*
    is the address of a Dask scheduler, or empty for local processes. From a cluster, all outputs of a task
    arrive when the task ends. *workers* is as in :func:`run_many`. If *isolated* is true, no call runs in
    this process, because a call may end its process.

    Raises
    ------
    InputError
        See :func:`~psm_sim.common.dask_cluster.run_on_cluster`.
    """
    if not tasks:
        return
    if cluster:
        from psm_sim.common.dask_cluster import run_on_cluster

        yield from run_on_cluster(function, tasks, cluster, isolated)
    else:
        count = process_count(len(tasks), workers)
        yield from unordered_map(function, tasks, count, count == 1 and not isolated)


def _call(function: Callable[[_Task], Iterable[_Output]], pair: tuple[int, _Task]) -> Iterable[_Output]:
    return function(pair[1])


def _yield_output(function: Callable[[_Task], _Output], task: _Task) -> Iterator[_Output]:
    yield function(task)
