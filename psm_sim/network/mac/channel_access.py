"""Contender: one queue that competes for the air, with its backoff and its contention window."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from psm_sim.network.frame_timing import FrameTiming


class Exchange(NamedTuple):
    """Exchange that a contender begins: its first frame, the answer to it, and an acknowledgement.

    ``first_s`` is the time on the air of the first frame, which is in vain if it collides; ``lasts_s`` that
    until what is delivered has arrived; ``after_s`` that until the air is free again; all in seconds.
    ``done`` is called when it has arrived.
    """

    first_s: float
    lasts_s: float
    after_s: float
    done: Callable[[], None]

    def and_then(self, then: Callable[[], None]) -> Exchange:
        """Return the exchange with something further to be called once it is delivered."""

        def done() -> None:
            self.done()
            then()

        return self._replace(done=done)


class FrameSource(Protocol):
    """Source of what a contender sends."""

    def exchange(self, start_s: float) -> Exchange:
        """Return the exchange that begins now, at *start_s* seconds; asked again if it collides."""

    def waiting(self) -> bool:
        """Say whether there is something to send."""

    def collided(self, first_s: float) -> None:
        """Take note that the first frame, of so many seconds, was on the air in vain."""

    def lost(self) -> None:
        """Give up what was to be sent: it has been tried too often."""


class Contender:
    """Contender for the air: ``backoff`` is what it has left to count, in idle slots.

    ``at_s`` is when it sends if nobody sends before; ``from_s`` is the earliest time from which it counts,
    later than the others' after a collision or while its radio wakes; both in seconds. ``wants`` says that
    it has something to send.
    """

    __slots__ = ("at_s", "backoff", "from_s", "retries", "source", "wants", "window")

    def __init__(self, source: FrameSource, window: int) -> None:
        self.source, self.window = source, window
        self.backoff = self.retries = 0
        self.at_s = self.from_s = 0.0
        self.wants = False

    def place(self, now_s: float, free_s: float, timing: FrameTiming) -> None:
        """Say when it sends: after its first slots and its backoff, at the beginning of a slot.

        Parameters
        ----------
        now_s, free_s
            The time, and that from which on the air is free, in seconds.
        timing
            How long a slot is.
        """
        start_s = max(free_s, self.from_s) + timing.sifs_s
        slots = timing.first_slots + self.backoff
        passed_s = now_s - start_s
        if passed_s > slots * timing.slot_s:
            slots = int(passed_s / timing.slot_s) + 1
        self.at_s = start_s + slots * timing.slot_s
