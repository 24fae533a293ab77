"""Progress callbacks, and the most recent progress of the process."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Called with (done units, total units, label). The units are pages, records, or the bytes of a file."""


latest = ""
"""Most recent progress message."""

fraction = 0.0
"""Finished fraction of the work, from 0 to 1."""

bar_visible = False
"""Whether a progress bar is visible."""


def no_progress(done: int, total: int, label: str) -> None:
    """Ignore the progress; the default callback.

    Parameters
    ----------
    done, total : int
        Number of finished units and of all units.
    label : str
        Current run, task or file.
    """


def record_progress(done: int, total: int, label: str) -> None:
    """Store the progress for the heartbeat of a command without progress bar.

    Parameters
    ----------
    done, total : int
        Number of finished units and of all units.
    label : str
        Current run, task or file.
    """
    global latest, fraction
    latest, fraction = f"{label}: {done:,} of {total:,}", done / total if total else 0.0
