"""SimPy environment with a fast ``now``, and a single loop that runs its events."""

from __future__ import annotations

from heapq import heappop
from typing import Any, Protocol

from simpy import Environment

from psm_sim.network.timers import ReusableEvent


class Clock(Environment):
    """Clock of a world, a SimPy environment whose ``now`` is a plain slot.

    ``now`` and SimPy's ``_now`` are two names of the same slot. SimPy's own ``now`` is a property, which
    takes six times as long and is read about 240 times per page. The slot saves 6 % of a page of ``psm``.
    """

    __slots__ = ("_now",)


Clock.now = Clock.__dict__["_now"]  # type: ignore[method-assign]


class BrowsingDone(Protocol):
    """Object whose ``browsing`` is true until its last page is complete."""

    browsing: bool


def run_events(env: Environment, world: BrowsingDone, limit: int) -> int:
    """Run events as ``env.step()`` does, but in one loop. Return their number.

    The loop saves 6 % of a page of ``psm``, most of it by calling the action of a reusable event directly.

    Parameters
    ----------
    env
        The clock.
    world
        The loop ends when it is no longer browsing.
    limit
        Maximum number of events.

    Raises
    ------
    Exception
        The exception of a process, if no other process has caught it.
    """
    queue = env._queue
    for fired in range(limit):
        if not world.browsing:
            return fired
        env._now, _, _, event = heappop(queue)
        if type(event) is ReusableEvent:
            action = event.action
            action(event)
            continue
        callbacks: Any = event.callbacks
        event.callbacks = None  # type: ignore[assignment]  # SimPy marks a processed event this way
        for callback in callbacks:
            callback(event)
        if not event._ok and not hasattr(event, "_defused"):
            raise event._value
    return limit
