"""Progress of work that takes a while: one type for every function that reports it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with (units done, units in all, label); the units are pages, or the bytes of a file."""


latest = ""
"""The last progress told, in words, for whoever asks what a run is at."""

fraction = 0.0
"""The part of the work that is done, from 0 to 1."""

bar_visible = False
"""Whether a bar shows it already."""


def no_progress(done: int, total: int, label: str) -> None:
    """Report nothing: the default where nobody watches.

    Parameters
    ----------
    done, total
        The units done, and those in all.
    label
        What is being worked on.
    """


def record_progress(done: int, total: int, label: str) -> None:
    """Remember the progress, so that a run without a bar can say what it is at.

    Parameters
    ----------
    done, total
        The units done, and those in all.
    label
        What is being worked on.
    """
    global latest, fraction
    latest, fraction = f"{label}, {done:,} of {total:,}", done / total if total else 0.0
