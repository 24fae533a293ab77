"""Progress bars on a terminal, and the heartbeat of a long command that shows no bar."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TextIO

from psm_sim.common.formatting import format_duration
from psm_sim.common.progress import Progress

PATIENCE_S = 1.0
"""Delay before a progress bar appears, in seconds."""

_REFRESH_S = 0.1

FIRST_HEARTBEAT_S, MAX_HEARTBEAT_INTERVAL_S = 10.0, 60.0
"""Delay of the first heartbeat and longest interval between heartbeats, in seconds."""

SHOW_TIME_LEFT_FROM_S = 60.0
"""Expected duration in seconds above which a heartbeat shows the remaining time."""

_BAR_WIDTH = 20


@dataclass
class _Status:
    """Progress of the command, which callbacks store and the heartbeat shows."""

    message: str = ""
    fraction: float = 0.0
    bar_visible: bool = False


_status = _Status()


@contextmanager
def progress_on(stream: TextIO, unit: str = "pages") -> Iterator[Progress]:
    """Yield a progress callback for work in a *unit*, which shows a bar if *stream* is a terminal."""
    with _bar_on(stream, partial(_work_columns, unit)) as bar:

        def show(done: int, total: int, label: str) -> None:
            record_progress(done, total, label)
            if bar is not None:
                bar.update(done, total, label)

        yield show


@contextmanager
def progress(description: str) -> Iterator[Progress]:
    """Yield a progress callback for reading or writing a file.

    If standard error is a terminal, the callback shows a bar with *description*.
    """
    with _bar_on(sys.stderr, _file_columns) as bar:

        def show(done: int, total: int, label: str) -> None:
            record_progress(done, total, label)
            if bar is not None:
                bar.update(done, total, description)

        yield show


@contextmanager
def _bar_on(stream: TextIO, columns: Callable[[], tuple[Any, ...]]) -> Iterator[_Bar | None]:
    """Yield a progress bar if *stream* is a terminal, and None otherwise."""
    if stream is None or not stream.isatty():
        yield None
        return
    bar = _Bar(stream, columns)
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """Progress bar that appears after :data:`PATIENCE_S` seconds and is removed at the end.

    Parameters
    ----------
    stream : text file
        Terminal.
    columns : callable
        Function that returns the columns. It is called when the bar appears, because rich is slow to import.
    """

    def __init__(self, stream: TextIO, columns: Callable[[], tuple[Any, ...]]) -> None:
        self._stream, self._columns = stream, columns
        self._due_s = time.monotonic() + PATIENCE_S
        self._bar: Any = None

    def update(self, done: int, total: int, text: str) -> None:
        """Show the progress, at most ten times per second.

        Parameters
        ----------
        done, total : int
            Number of finished units and of all units.
        text : str
            Text of the bar.
        """
        now_s = time.monotonic()
        if now_s < self._due_s:
            return
        self._due_s = now_s + _REFRESH_S
        if self._bar is None:
            self._start(total, text)
        self._bar.update(self._task, completed=done, total=total, description=text, refresh=True)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            _status.bar_visible = False
            self._bar.stop()

    def _start(self, total: int, text: str) -> None:
        from rich.console import Console
        from rich.progress import Progress as RichProgress

        console = Console(file=self._stream)
        self._bar = RichProgress(*self._columns(), console=console, transient=True, auto_refresh=False)
        self._task = self._bar.add_task(text, total=total)
        self._bar.start()
        _status.bar_visible = True


def _work_columns(unit: str) -> tuple[Any, ...]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    label = TextColumn("{task.description}", markup=False)
    return (
        label,
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{unit},"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )


def _file_columns() -> tuple[Any, ...]:
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()


def record_progress(done: int, total: int, label: str) -> None:
    """Store the progress for the heartbeat of a command without progress bar.

    Parameters
    ----------
    done, total : int
        Number of finished units and of all units.
    label : str
        Current run, task or file.
    """
    _status.message, _status.fraction = f"{label}: {done:,} of {total:,}", done / total if total else 0.0


@contextmanager
def heartbeat() -> Iterator[None]:
    """Print heartbeats to standard error while a long block runs without a progress bar."""
    done = threading.Event()
    thread = threading.Thread(target=_print_heartbeats, args=(done,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()


def _print_heartbeats(done: threading.Event) -> None:
    start_s, pause_s = time.monotonic(), FIRST_HEARTBEAT_S
    _status.message, _status.fraction = "", 0.0
    while not done.wait(pause_s):
        if not _status.bar_visible:
            elapsed_s = time.monotonic() - start_s
            task = _status.message or "still running"
            with suppress(OSError, ValueError):
                line = f"{task}, {elapsed_s:.0f} s elapsed{time_left(elapsed_s, _status.fraction)}"
                print(f"psm_sim: {line}", file=sys.stderr)  # noqa: T201
        pause_s = min(2 * pause_s, MAX_HEARTBEAT_INTERVAL_S)


def time_left(elapsed_s: float, fraction: float) -> str:
    """Return a bar and the remaining time, or ``""`` if the total time is at most a minute.

    Parameters
    ----------
    elapsed_s : float
        Elapsed seconds.
    fraction : float
        Finished fraction of the work, from 0 to 1.
    """
    if not 0 < fraction < 1 or elapsed_s <= SHOW_TIME_LEFT_FROM_S * fraction:
        return ""
    done = round(_BAR_WIDTH * fraction)
    remaining = format_duration(elapsed_s / fraction - elapsed_s)
    return f" [{'#' * done}{'-' * (_BAR_WIDTH - done)}] about {remaining} left"
