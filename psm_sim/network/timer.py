"""Timers: SimPy events that are armed again and again.

Allocating events is SimPy's largest cost, so a periodic part keeps one and schedules it anew. The
outcome (``_ok``, ``_value``) is given once; before each firing ``callbacks`` are set again.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from simpy import Environment, Event
from simpy.events import NORMAL, EventPriority

WITH_DTIM = EventPriority(NORMAL + 1)
"""Priority of group frames: at equal times they come before the beacon that announces them is over."""

AFTER_ALL = EventPriority(NORMAL + 2)
"""Priority of beacons: at equal times, everything else happens first."""


class Pulse(Event):
    """Pulse: calls *action*, with itself, each time it has been armed; not to be armed while it is queued."""

    def __init__(self, env: Environment, action: Callable[[Event], None]) -> None:
        super().__init__(env)
        self._ok, self._value = True, None
        self._ring = [action]

    def arm(self, time: float) -> None:
        """Fire at *time*."""
        env = self.env
        self.callbacks = self._ring
        env.schedule(self, NORMAL, time - env.now)


class Alarm(Event):
    """Alarm: calls *action* at its deadline, which can be moved or taken back at any time.

    SimPy cannot take an event out of its queue. A deadline that moves later costs nothing until the
    queued firing comes up early and queues itself again; one that moves earlier is queued at once.
    """

    def __init__(
        self, env: Environment, action: Callable[[], None], priority: EventPriority = NORMAL
    ) -> None:
        super().__init__(env)
        self._ok, self._value = True, None
        self._action, self._priority = action, priority
        self._ring: list[Callable[[Any], None]] = [self._fire]
        self.callbacks = self._ring
        self._queued_for = inf
        self.deadline = inf

    def at(self, time: float) -> None:
        """Fire at *time* instead of any earlier plan."""
        self.deadline = time
        if time < self._queued_for:
            self._queue()

    def off(self) -> None:
        """Do not fire."""
        self.deadline = inf

    def _queue(self) -> None:
        env = self.env
        now = env.now
        delay = self.deadline - now
        self._queued_for = now + delay
        env.schedule(self, self._priority, delay)

    def _fire(self, _: Event) -> None:
        self.callbacks = self._ring
        now = self.env.now
        if self._queued_for <= now:
            self._queued_for = inf
        if self.deadline <= now:
            self.deadline = inf
            self._action()
        elif self.deadline < self._queued_for:
            self._queue()
