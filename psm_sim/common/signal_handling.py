"""Signal handling, time limit and heartbeat of a command."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from psm_sim.common import progress
from psm_sim.common.errors import CommandTerminated
from psm_sim.common.formatting import format_duration

FIRST_HEARTBEAT_S, MAX_HEARTBEAT_INTERVAL_S = 10.0, 60.0
"""Delay of the first heartbeat and longest interval between heartbeats, in seconds."""

SHOW_TIME_LEFT_FROM_S = 60.0
"""Expected duration in seconds above which a heartbeat shows the remaining time."""

_BAR_WIDTH = 20
_REPEAT_S = 2.0
_GRACE_S = 10.0


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Raise CommandTerminated in the block on SIGTERM or SIGHUP, so that it cleans up as after Ctrl-C."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {}
    if threading.current_thread() is threading.main_thread():
        # Keep ignored signals ignored (nohup).
        numbers = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, _raise_terminated) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise_terminated(number: int, _: FrameType | None) -> NoReturn:
    raise CommandTerminated(f"terminated by {signal.Signals(number).name}.", 128 + number)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Abort the block after *seconds*; None disables the limit.

    CommandTerminated is raised in the block, repeatedly. If the block is still running 10 s later,
    because it catches everything or does not return from a library, the process exits.
    """
    if seconds is None:
        yield
        return
    message = f"timed out after {seconds:g} s (--timeout-s); increase the limit or reduce the work."

    def on_alarm(*_: object) -> NoReturn:
        raise CommandTerminated(message, 2)

    exit_timer = threading.Timer(seconds + _GRACE_S, _exit_now, [message])
    exit_timer.daemon = True
    exit_timer.start()
    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        exit_timer.cancel()


def _exit_now(message: str) -> None:
    with suppress(OSError, ValueError):
        os.write(2, f"psm_sim: {message}\n".encode())
    os._exit(2)


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
    progress.latest, progress.fraction = "", 0.0
    while not done.wait(pause_s):
        if not progress.bar_visible:
            elapsed_s = time.monotonic() - start_s
            task = progress.latest if progress.latest else "still running"
            with suppress(OSError, ValueError):
                line = f"{task}, {elapsed_s:.0f} s elapsed{time_left(elapsed_s, progress.fraction)}"
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
