"""Progress of work that takes a while: one type for every function that reports it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with (units done, units in all, label); the units are pages, or the bytes of a file."""


def silent(done: int, total: int, label: str) -> None:
    """Report nothing: the default where nobody watches.

    Parameters
    ----------
    done, total
        The units done, and those in all.
    label
        What is being worked on.
    """
