"""Progress of a command: its phase, the finished part, the rate and the remaining time.

On a terminal, a bar shows them. Otherwise they are printed every ten seconds as a line.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from psm_sim.common.formatting import format_duration
from psm_sim.common.progress import Progress

PATIENCE_S = 1.0
"""Duration of a phase before its bar appears, in seconds."""

LINE_INTERVAL_S = 10.0
"""Time between two lines of a command without a terminal, in seconds."""

_REFRESH_S = 0.1
_BAR_WIDTH = 16


@dataclass
class _Phase:
    """Phase of a command, and how far it is.

    The rate is that since the first call of :meth:`update`, because reading the inputs precedes it.
    """

    name: str
    unit: str
    begun_s: float
    label: str = ""
    done: int = 0
    total: int = 0
    first: tuple[int, float] | None = None
    """Finished units and time of the first update."""

    def update(self, done: int, total: int, label: str) -> None:
        """Store the progress; see :data:`psm_sim.common.progress.Progress`."""
        self.done, self.total, self.label = done, total, label
        if self.first is None:
            self.first = done, time.monotonic()

    @property
    def title(self) -> str:
        """The phase, with the current run, task or file."""
        if self.unit and self.first is None:
            return "preparing"
        return f"{'evaluating' if self._is_done else self.name} {self.label}".rstrip()

    def count(self) -> str:
        """Return the finished units and all units as text; empty if all are finished or they are unknown."""
        if not self.total or self._is_done:
            return ""
        size, unit, form = self._scale
        return f"{self.done / size:{form}} of {self.total / size:{form}} {unit}"

    def rate_and_time_left(self) -> list[str]:
        """Return the rate and the remaining time as texts; empty if they are unknown."""
        done, since_s = self.first or (0, 0.0)
        elapsed_s = time.monotonic() - since_s
        if self._is_done or self.done <= done or elapsed_s <= 0:
            return []
        per_s = (self.done - done) / elapsed_s
        size, unit, _ = self._scale
        return [describe_rate(per_s / size, unit), f"{describe_time((self.total - self.done) / per_s)} left"]

    @property
    def _is_done(self) -> bool:
        """Whether all units are finished. Statistics and other work without a count may follow."""
        return 0 < self.total == self.done

    @property
    def _scale(self) -> tuple[float, str, str]:
        """Size and name of the unit that is shown, and the format of its numbers."""
        return (1e6, "MB", ",.1f") if self.unit == "bytes" else (1, self.unit, ",.0f")


def describe_rate(per_s: float, unit: str) -> str:
    """Return a rate as text, per minute if it is less than one per second."""
    if per_s >= 100:
        return f"{per_s:,.0f} {unit}/s"
    return f"{per_s:.3g} {unit}/s" if per_s >= 1 else f"{60 * per_s:.3g} {unit}/min"


def describe_time(seconds: float) -> str:
    """Return a duration as text, in seconds below two minutes."""
    return f"{seconds:.0f} s" if seconds < 120 else format_duration(seconds)


class _Bar:
    """Progress bar on standard error, which is removed when its phase ends."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._bar: Any = None

    def show(self) -> None:
        """Show or update the bar of the current phase, if it has lasted for :data:`PATIENCE_S`."""
        with self._lock:
            current = _phases[-1:]  # the main thread can end the phase meanwhile
            if not current or time.monotonic() < current[0].begun_s + PATIENCE_S:
                return
            phase = current[0]
            if self._bar is None:
                self._start()
            texts = filter(None, [phase.count(), *phase.rate_and_time_left()])
            self._bar.update(
                self._task,
                description=phase.title,
                completed=phase.done,
                total=phase.total or None,
                numbers=", ".join(texts),
                refresh=True,
            )

    def hide(self) -> None:
        """Remove the bar."""
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(_BAR_WIDTH),
            TextColumn("{task.fields[numbers]}", markup=False),
        )
        self._bar = RichProgress(
            *columns,
            console=Console(file=sys.stderr),
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,  # the main thread redirects it, too, and ends that at another time
        )
        self._task = self._bar.add_task("", numbers="")
        self._bar.start()


_phases: list[_Phase] = []
"""Current phases; the last one is shown."""

_bar = _Bar()


@contextmanager
def progress(name: str, unit: str = "") -> Iterator[Progress]:
    """Yield a progress callback for one phase of the command.

    *name* is a participle, such as ``"simulating"``. *unit* is the plural of the unit of the callback, such
    as ``"pages"``; bytes are shown in MB. Without a unit, the callback is not called.
    """
    phase = _Phase(name, unit, time.monotonic())
    _phases.append(phase)
    try:
        yield phase.update
    finally:
        _phases.remove(phase)
        _bar.hide()


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show the phases of the block on standard error."""
    ended = threading.Event()
    show = _show_bar if sys.stderr.isatty() else _print_lines
    thread = threading.Thread(target=show, args=(ended,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        _bar.hide()


def _show_bar(ended: threading.Event) -> None:
    with suppress(OSError, ValueError):  # the terminal may be closed
        while not ended.wait(_REFRESH_S):
            _bar.show()


def _print_lines(ended: threading.Event) -> None:
    begun_s = time.monotonic()
    with suppress(OSError, ValueError):  # standard error may be closed
        while not ended.wait(LINE_INTERVAL_S):
            print(f"psm_sim: {_line(time.monotonic() - begun_s)}", file=sys.stderr)  # noqa: T201


def _line(elapsed_s: float) -> str:
    """Return the progress of the current phase, after *elapsed_s* seconds of the command, as one line."""
    elapsed = f"{describe_time(elapsed_s)} elapsed"
    current = _phases[-1:]  # the main thread can end the phase meanwhile
    if not current:
        return f"still running, {elapsed}"
    phase = current[0]
    title = ": ".join(filter(None, [phase.title, phase.count()]))
    rate, left = phase.rate_and_time_left() or ("", "")
    return ", ".join(filter(None, [title, rate, elapsed, left]))
