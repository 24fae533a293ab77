"""Progress callbacks of long computations."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with (done units, total units, label). The units are pages, tasks, records or bytes."""


def no_progress(done: int, total: int, label: str) -> None:
    """Ignore the progress: the number of units *done*, their *total*, and the *label* of the current run."""
