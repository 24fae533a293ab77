"""Progress callbacks, and the heartbeat that shows the most recent progress of a long command."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from psm_sim.common.formatting import format_duration

Progress = Callable[[int, int, str], None]
"""Called with (done units, total units, label). The units are pages, records, or the bytes of a file."""

FIRST_HEARTBEAT_S, MAX_HEARTBEAT_INTERVAL_S = 10.0, 60.0
"""Delay of the first heartbeat and longest interval between heartbeats, in seconds."""

SHOW_TIME_LEFT_FROM_S = 60.0
"""Expected duration in seconds above which a heartbeat shows the remaining time."""

_BAR_WIDTH = 20

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
    global latest, fraction
    start_s, pause_s = time.monotonic(), FIRST_HEARTBEAT_S
    latest, fraction = "", 0.0
    while not done.wait(pause_s):
        if not bar_visible:
            elapsed_s = time.monotonic() - start_s
            task = latest or "still running"
            with suppress(OSError, ValueError):
                line = f"{task}, {elapsed_s:.0f} s elapsed{time_left(elapsed_s, fraction)}"
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
