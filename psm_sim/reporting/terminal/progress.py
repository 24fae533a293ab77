"""Progress of a command on standard error: a bar on a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from psm_sim.common.formatting import format_seconds
from psm_sim.common.progress import Progress

LINE_INTERVAL_S = 10.0
"""Time between two lines of a command without a terminal, in seconds."""


def progress(name: str, unit: str = "") -> AbstractContextManager[Progress]:
    """Return a context manager that shows one phase of the command, and yields its progress callback.

    *name* is a participle, such as ``"simulating"``. *unit* is the unit of the reported numbers, such as
    ``"pages"``. Numbers of ``"bytes"`` are shown in MB. Omit *unit* if the phase reports no numbers.
    """
    return _bar(name, unit) if sys.stderr.isatty() else _lines(name, unit)


@contextmanager
def _bar(name: str, unit: str) -> Iterator[Progress]:
    """Show a bar that is removed at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    count = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    columns = (count, TextColumn("{task.fields[unit]}"), TimeRemainingColumn()) if unit else ()
    bar = RichProgress(
        TextColumn("{task.description}", markup=False),
        BarColumn(16),
        *columns,
        console=Console(file=sys.stderr),
        transient=True,
        redirect_stdout=False,  # commands redirect standard output themselves
    )
    with bar:
        task = bar.add_task(name, total=None, unit="")

        def report(done: int, total: int, label: str, own_unit: str = "") -> None:
            shown_unit = "" if unit == "bytes" else own_unit or unit
            description = f"{name} {label}".rstrip()
            bar.update(task, description=description, completed=done, total=total, unit=shown_unit)

        yield report


@contextmanager
def _lines(name: str, unit: str) -> Iterator[Progress]:
    """Print a line when progress is reported, if the last line is at least :data:`LINE_INTERVAL_S` old.

    The first line is printed after half of this interval, because long tasks delay their reports.
    """
    begun_s = time.monotonic()
    printed_s = begun_s - LINE_INTERVAL_S / 2
    size, shown_unit, form = (1e6, "MB", ",.1f") if unit == "bytes" else (1, unit, ",.0f")

    def report(done: int, total: int, label: str, own_unit: str = "") -> None:
        nonlocal printed_s
        now_s = time.monotonic()
        if now_s < printed_s + LINE_INTERVAL_S:
            return
        printed_s = now_s
        line = f"psm_sim: {f'{name} {label}'.rstrip()}: {done / size:{form}} of {total / size:{form}}"
        line += f" {own_unit or shown_unit}, {describe_time(now_s - begun_s)} elapsed"
        if done:
            line += f", {describe_time((now_s - begun_s) * (total - done) / done)} left"
        with suppress(OSError, ValueError):  # standard error may be closed
            print(line, file=sys.stderr)  # noqa: T201

    yield report


def describe_time(seconds: float) -> str:
    """Return a duration as text, in seconds below two minutes."""
    return f"{seconds:.0f} s" if seconds < 120 else format_seconds(seconds)
