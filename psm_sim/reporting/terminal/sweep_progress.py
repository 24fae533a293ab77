"""Progress bar of a sweep."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from psm_sim.common.formatting import format_duration
from psm_sim.reporting.terminal.progress import PATIENCE_S

if TYPE_CHECKING:
    from psm_sim.campaign.sweep.eta import EtaEstimator
    from psm_sim.campaign.sweep.scheduler import ProgressCallback

_REFRESH_S = 0.1


@contextmanager
def sweep_progress_on(stream: TextIO) -> Iterator[ProgressCallback]:
    """Yield a progress callback, which shows a bar if *stream* is a terminal and nothing otherwise."""
    if not stream.isatty():
        yield lambda remaining: None
        return
    bar = SweepBar(stream)
    try:
        yield bar
    finally:
        bar.close()


class SweepBar:
    """Progress bar that appears after :data:`.progress.PATIENCE_S` seconds and is removed at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._due_s = stream, time.monotonic() + PATIENCE_S
        self._bar: Any = None

    def __call__(self, remaining: EtaEstimator) -> None:
        """Show the tasks done and the time left, at most ten times per second."""
        now_s = time.monotonic()
        if now_s < self._due_s:
            return
        self._due_s = now_s + _REFRESH_S
        if self._bar is None:
            self._start(remaining.tasks)
        self._bar.update(
            self._task, completed=remaining.tasks_done, left=format_time_left(remaining), refresh=True
        )

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("tasks{task.fields[left]}", markup=False))
        console = Console(file=self._stream)
        self._bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
        self._task = self._bar.add_task("sweep", total=total, left="")
        self._bar.start()


def format_time_left(remaining: EtaEstimator) -> str:
    """Return the estimated time left as text, or an empty string without an estimate."""
    left_s = remaining.left_s
    return "" if left_s is None else f", about {format_duration(left_s)} left"
