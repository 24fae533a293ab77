"""Worker: a process that does the batches it is sent, until whoever sends them is gone."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from psm_sim.processes import begin

Channel = tuple[int, int]
"""File descriptors: the one that batches come from, and the one that answers go to."""


def main(parent: int, others: Sequence[Channel] = ()) -> None:
    """Import all that a batch needs, leave a copy of this process at each other channel, and work.

    The process then ends at once: to take an interpreter apart would take as long as to start it.

    Parameters
    ----------
    parent
        The process that sends the batches: this one ends with it.
    others
        The channels of further workers. They are forked from this process, so that its imports are theirs;
        no thread runs by then. This process has its own channel on standard input and output.
    """
    mine = _taken_channel()
    from psm_sim.campaign.sweep.work import run_batch

    copies: list[int] = []
    here, pairs = os.getpid(), list(others)
    while pairs:
        channel = pairs.pop()
        copy = os.fork()
        if not copy:
            _close([mine, *pairs])
            mine, parent, copies, pairs = channel, here, [], []
        else:
            _close([channel])
            copies.append(copy)
    begin(parent)
    serve(run_batch, os.fdopen(mine[0], "rb"), os.fdopen(mine[1], "wb"))
    with suppress(AttributeError, OSError):
        sys.stderr.flush()
    for copy in copies:
        os.waitpid(copy, 0)
    os._exit(0)


def serve(work: Callable[[Any], Any], inbox: BinaryIO, outbox: BinaryIO) -> None:
    """Send the number of this process, and then the answer to each thing that comes, until nothing comes.

    Parameters
    ----------
    work
        Called with each thing; an exception is sent back, as a :class:`Lost`, and does not end this.
    inbox, outbox
        Where things come from, and where answers go; pickled.
    """
    with suppress(EOFError, BrokenPipeError):
        _send(os.getpid(), outbox)
        while True:
            _send(_answer(work, pickle.load(inbox)), outbox)  # noqa: S301


def _send(what: Any, outbox: BinaryIO) -> None:
    pickle.dump(what, outbox, pickle.HIGHEST_PROTOCOL)
    outbox.flush()


def _answer(work: Callable[[Any], Any], what: Any) -> Any:
    from psm_sim.campaign.sweep.outcome import Lost
    from psm_sim.errors import reason

    try:
        return work(what)
    except BaseException as error:
        return Lost(reason(error))


def _taken_channel() -> Channel:
    """Take standard input and output for answers alone: what is printed goes to standard error."""
    sys.stdout = sys.stderr
    channel = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    with suppress(OSError):
        os.dup2(2, 1)
    return channel


def _close(channels: Sequence[Channel]) -> None:
    for end in (end for channel in channels for end in channel):
        os.close(end)
