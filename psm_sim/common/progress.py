"""Progress callbacks of long computations."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Function that is called when a part of a long computation is done."""

    def __call__(self, done: int, total: int, label: str, unit: str = "", /) -> None:
        """Report that *done* of *total* units are finished; *label* names the current run.

        *unit* names the units, such as ``"seeds"``; empty for the default unit of the computation.
        """


def no_progress(done: int, total: int, label: str, unit: str = "") -> None:
    """Ignore the progress."""
