"""Timers: SimPy events that are armed again and again.

Allocating events is SimPy's largest cost, so a periodic part keeps one and schedules it anew. The
outcome (``_ok``, ``_value``) is given once.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any

from simpy import Environment, Event
from simpy.events import NORMAL, EventPriority

WITH_DTIM = EventPriority(NORMAL + 1)
"""Priority of group frames: at equal times they come before the beacon that announces them is over."""

LOWEST_PRIORITY = EventPriority(NORMAL + 2)
"""Priority of beacons: at equal times, everything else happens first."""


class ReusableEvent(Event):
    """Pulse: calls *action*, with itself, each time it has been armed; it never counts as over.

    ``queue`` and ``numbers`` are the clock's.
    """

    def __init__(self, env: Environment, action: Callable[[Event], None]) -> None:
        self.env, self.action = env, action
        self._ok, self._value = True, None
        # As env.schedule() does it, which would take a delay: most events come this way.
        self.queue, self.numbers = env._queue, env._eid

    @property
    def callbacks(self) -> list[Callable[[Any], None]]:
        """The action alone, before and after each firing, whatever SimPy sets."""
        return [self.action]

    @callbacks.setter
    def callbacks(self, _: object) -> None: ...

    def arm(self, time: float, priority: EventPriority = NORMAL) -> None:
        """Fire at *time*, to the last bit."""
        heappush(self.queue, (time, priority, next(self.numbers), self))

    def comes_first(self, time: float, number: int) -> bool:
        """Say whether it would fire next at *time*, with a *number* taken before; else it is armed so."""
        place = time, NORMAL, number, self
        if not self.queue or place < self.queue[0]:
            return True
        heappush(self.queue, place)
        return False


class Alarm:
    """Alarm: calls *action* at its deadline, which can be moved or taken back at any time.

    SimPy cannot take an event out of its queue. A deadline that moves later costs nothing until the
    queued firing comes up early and queues itself again; one that moves earlier is queued at once.
    """

    def __init__(
        self, env: Environment, action: Callable[[], None], priority: EventPriority = NORMAL
    ) -> None:
        self._env, self._action, self._priority = env, action, priority
        self._pulse = ReusableEvent(env, self._fire)
        self._queued_for = inf
        self.deadline = inf

    def at(self, time: float) -> None:
        """Fire at *time* instead of any earlier plan."""
        self.deadline = time
        if time < self._queued_for:
            self._queue()

    def cancel(self) -> None:
        """Do not fire."""
        self.deadline = inf

    def _queue(self) -> None:
        now = self._env.now
        self._queued_for = queued_for = now + (self.deadline - now)
        self._pulse.arm(queued_for, self._priority)

    def _fire(self, _: Event) -> None:
        now = self._env.now
        if self._queued_for <= now:
            self._queued_for = inf
        if self.deadline <= now:
            self.deadline = inf
            self._action()
        elif self.deadline < self._queued_for:
            self._queue()


class TimerQueue:
    """Timers of one host: any number of them, with one event for the earliest.

    Most timers of TCP are taken back before they fire. Here they leave the queue together, the next time
    that one of them comes up, and not each with an event of SimPy's. ``due`` is a heap of when to look at
    which, in ``order`` at equal times; ``armed_for`` is the time of the event. If that moves earlier it is
    queued once more, and is not queued anew for the later time when it has fired.
    """

    def __init__(self, env: Environment) -> None:
        self.env, self._pulse = env, ReusableEvent(env, self._fire)
        self.due: list[tuple[float, int, Timer]] = []
        self.order = count()
        self.armed_for = inf
        self._later: list[float] = []

    def arm(self, time: float) -> None:
        """Look at the timers at *time*, earlier than planned."""
        self._later.append(self.armed_for)
        self.armed_for = time
        self._pulse.arm(time)

    def _fire(self, _: Event) -> None:
        now, due = self.env.now, self.due
        self.armed_for = self._later.pop()
        while due:
            time, _number, timer = due[0]
            if time > now and time == timer.deadline:
                if time < self.armed_for:
                    self.arm(time)
                return
            heappop(due)
            if time == timer.queued_for:
                timer.queued_for = inf
                if timer.deadline < inf:
                    timer.look(now)


class Timer:
    """Timer: calls *action* at its deadline, which can be moved or taken back at any time.

    ``queued_for`` is when it will be looked at.
    """

    __slots__ = ("_action", "_timers", "deadline", "queued_for")

    def __init__(self, timers: TimerQueue, action: Callable[[], None]) -> None:
        self._timers, self._action = timers, action
        self.queued_for = inf
        self.deadline = inf

    def at(self, time: float) -> None:
        """Fire at *time* instead of any earlier plan."""
        self.deadline = time
        if time < self.queued_for:
            self.queued_for, timers = time, self._timers
            heappush(timers.due, (time, next(timers.order), self))
            if time < timers.armed_for:
                timers.arm(time)

    def detach(self) -> None:
        """Part from its owner, since it is not needed any more."""
        del self._action

    def look(self, now: float) -> None:
        """Fire if its deadline has come *now*, else be looked at again when it comes."""
        if self.deadline <= now:
            self.deadline = inf
            self._action()
        else:
            self.at(self.deadline)
