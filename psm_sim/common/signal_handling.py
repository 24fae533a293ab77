"""Signals and the time limit of a command, both raised as exceptions in the main thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from psm_sim.common.errors import CommandTerminated

_REPEAT_S = 2.0


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
    """Raise CommandTerminated in the block after *seconds*, and again every 2 s; None disables the limit.

    A library call ends only when it returns to Python.
    """
    if seconds is None:
        yield
        return

    def on_alarm(*_: object) -> NoReturn:
        raise CommandTerminated(
            f"timed out after {seconds:g} s (--timeout-s); increase the limit or reduce the work.", 2
        )

    before = signal.signal(signal.SIGALRM, on_alarm)
    try:
        # Repeated, because an exception in a callback of a library can be lost.
        signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT_S)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
