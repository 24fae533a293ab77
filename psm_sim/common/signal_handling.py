"""Signals that end a command, raised as exceptions in the main thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from psm_sim.common.errors import CommandTerminated


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Raise CommandTerminated in the block on Ctrl-C, SIGTERM or SIGHUP, so that the block cleans up."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.signal(number, _raise_terminated) for number in ending_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ending_signals() -> list[signal.Signals]:
    """Return the signals that end a command, without those that are ignored (nohup)."""
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    return [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]


def _raise_terminated(number: int, _: FrameType | None) -> NoReturn:
    name = signal.Signals(number).name
    message = "interrupted." if name == "SIGINT" else f"terminated by {name}."
    raise CommandTerminated(message, 128 + number)
