"""Progress bars of simulations and of file input and output."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from psm_sim.common import progress as progress_
from psm_sim.common.progress import Progress

PATIENCE_S = 1.0
"""Delay before a progress bar appears, in seconds."""

_REFRESH_S = 0.1


@contextmanager
def progress_on(stream: TextIO) -> Iterator[NoProgress]:
    """Yield a progress callback, which shows a bar if *stream* is a terminal and nothing otherwise."""
    progress = Bar(stream) if stream is not None and stream.isatty() else NoProgress()
    try:
        yield progress
    finally:
        progress.close()


class NoProgress:
    """Progress callback that shows nothing."""

    def __call__(self, done_pages: int, total_pages: int, label: str) -> None:
        """Record the progress.

        Parameters
        ----------
        done_pages : int
            Number of pages simulated so far.
        total_pages : int
            Number of pages of all runs.
        label : str
            Name of the current run.
        """
        progress_.record_progress(done_pages, total_pages, label)

    def close(self) -> None:
        """Remove the display."""


class Bar(NoProgress):
    """Progress bar that appears after :data:`PATIENCE_S` seconds and is removed at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._due_s = time.monotonic() + PATIENCE_S
        self._bar: Any = None

    def __call__(self, done_pages: int, total_pages: int, label: str) -> None:
        """Show the pages done, at most ten times per second. Arguments as for :class:`NoProgress`."""
        super().__call__(done_pages, total_pages, label)
        now_s = time.monotonic()
        if now_s < self._due_s:
            return
        self._due_s = now_s + _REFRESH_S
        if self._bar is None:
            self._start(total_pages, label)
        self._bar.update(self._task, completed=done_pages, total=total_pages, description=label, refresh=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            progress_.bar_visible = False
            self._bar.stop()

    def _start(self, total: int, label: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("pages,"),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        console = Console(file=self._stream)
        self._bar = Progress(*columns, console=console, transient=True, auto_refresh=False)
        self._task = self._bar.add_task(label, total=total)
        self._bar.start()
        progress_.bar_visible = True


@contextmanager
def progress(description: str) -> Iterator[Progress]:
    """Yield a progress callback for reading or writing a file.

    If standard error is a terminal, the callback shows a bar with *description*.
    """
    if not sys.stderr.isatty():
        yield progress_.record_progress
        return
    from rich.console import Console
    from rich.progress import Progress as FileBar

    with FileBar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description)
        yield lambda done, total, _: bar.update(task, completed=done, total=total)
