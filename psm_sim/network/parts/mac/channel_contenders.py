"""Contenders for the channel and their frame exchanges."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from psm_sim.network.parts.frame_timing import FrameTiming


class Exchange(NamedTuple):
    """Frame exchange that a contender begins.

    Attributes
    ----------
    first_s : float
        Duration of the first frame, which is the time wasted by a collision, in seconds.
    delivery_s : float
        Time from the start of the exchange to the delivery of its data, in seconds.
    after_s : float
        Time from the delivery until the channel is free again, in seconds.
    on_delivered : callable
        Called at the delivery.
    """

    first_s: float
    delivery_s: float
    after_s: float
    on_delivered: Callable[[], None]

    def and_then(self, then: Callable[[], None]) -> Exchange:
        """Return the exchange with a second callback, called after ``on_delivered``."""

        def on_delivered() -> None:
            self.on_delivered()
            then()

        return self._replace(on_delivered=on_delivered)


class FrameSource(Protocol):
    """Queue whose frames a contender sends."""

    def exchange(self, start_s: float) -> Exchange:
        """Return the exchange that begins now, at *start_s* seconds. Called again after a collision."""

    def waiting(self) -> bool:
        """Return whether any frame is queued."""

    def collided(self, first_s: float) -> None:
        """Handle a collision of the first frame, which took *first_s* seconds."""

    def lost(self) -> None:
        """Drop the first frame, which has exceeded the retry limit."""


class Contender:
    """State of one queue that competes for the channel.

    Attributes
    ----------
    backoff : int
        Remaining backoff, in idle slots.
    at_s : float
        Time at which it sends if the channel stays idle, in seconds.
    earliest_s : float
        Earliest start of its countdown, in seconds. It is later than that of other contenders after a
        collision or while the radio wakes.
    pending : bool
        Whether it has a frame to send.
    """

    __slots__ = ("at_s", "backoff", "earliest_s", "pending", "retries", "source", "window")

    def __init__(self, source: FrameSource, window: int) -> None:
        self.source, self.window = source, window
        self.backoff = self.retries = 0
        self.at_s = self.earliest_s = 0.0
        self.pending = False

    def schedule(self, now_s: float, free_s: float, timing: FrameTiming) -> None:
        """Set ``at_s`` to a slot boundary after the interframe space and the backoff.

        Parameters
        ----------
        now_s, free_s
            The current time, and the time from which the channel is free, in seconds.
        timing
            Slot time and interframe spaces.
        """
        start_s = max(free_s, self.earliest_s) + timing.sifs_s
        slots = timing.first_slots + self.backoff
        passed_s = now_s - start_s
        if passed_s > slots * timing.slot_s:
            slots = int(passed_s / timing.slot_s) + 1
        self.at_s = start_s + slots * timing.slot_s
