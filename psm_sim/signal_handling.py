"""Interruptions of a command: signals that end it, a limit on its time, and word that it is at work."""

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

from psm_sim import progress
from psm_sim.errors import CommandTerminated
from psm_sim.formatting import format_duration

FIRST_HEARTBEAT_S, MAX_HEARTBEAT_INTERVAL_S = 10.0, 60.0
"""Seconds until a command that says nothing says that it is at work, and the longest pause after that."""

SHOW_TIME_LEFT_FROM_S = 60.0
"""Seconds from which a command that is going to take longer says how long."""

_WIDTH = 20
_INSIST_S = 2.0
_GRACE_S = 10.0


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as Ctrl-C does: all is cleaned up on the way."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {}
    if threading.current_thread() is threading.main_thread():
        # What is ignored stays ignored, as nohup asks for.
        numbers = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, _stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise CommandTerminated(f"ended by {signal.Signals(number).name}.", 128 + number)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """End the block after a time, whatever it does; None: no limit.

    It is told to stop by an exception, again and again; if it does not listen for 10 s, because it catches
    everything or does not return from a library, the process ends at once.
    """
    if seconds is None:
        yield
        return
    said = f"the time is up: --timeout-s is {seconds:g}; give more time, or less work."

    def ring(*_: object) -> NoReturn:
        raise CommandTerminated(said, 2)

    last = threading.Timer(seconds + _GRACE_S, _end_at_once, [said])
    last.daemon = True
    last.start()
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, _INSIST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        last.cancel()


def _end_at_once(said: str) -> None:
    with suppress(OSError, ValueError):
        os.write(2, f"psm_sim: {said}\n".encode())
    os._exit(2)


@contextmanager
def heartbeat() -> Iterator[None]:
    """Say on standard error that the block is at work, if it takes long and no progress bar is shown."""
    done = threading.Event()
    thread = threading.Thread(target=_say, args=(done,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()


def _say(done: threading.Event) -> None:
    begun, pause_s = time.monotonic(), FIRST_HEARTBEAT_S
    progress.latest, progress.fraction = "", 0.0
    while not done.wait(pause_s):
        if not progress.bar_visible:
            taken_s = time.monotonic() - begun
            at = f": {progress.latest}" if progress.latest else ""
            with suppress(OSError, ValueError):
                words = f"psm_sim: at work for {taken_s:.0f} s{at}{time_left(taken_s, progress.fraction)}"
                print(words, file=sys.stderr)  # noqa: T201
        pause_s = min(2 * pause_s, MAX_HEARTBEAT_INTERVAL_S)


def time_left(taken_s: float, share: float) -> str:
    """Return a bar and the time left, if all takes over a minute; *share* of it took *taken_s* seconds."""
    if not 0 < share < 1 or taken_s <= SHOW_TIME_LEFT_FROM_S * share:
        return ""
    done = round(_WIDTH * share)
    return f" [{'#' * done}{'-' * (_WIDTH - done)}] about {format_duration(taken_s / share - taken_s)} left"
