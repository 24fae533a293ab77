"""Clock: SimPy's environment, with a time that is read without a call; and its events fired in one loop."""

from __future__ import annotations

from heapq import heappop
from typing import Any, Protocol

from simpy import Environment

from psm_sim.network.timers import ReusableEvent


class Clock(Environment):
    """Clock of a world: an environment for any process of SimPy's.

    ``now`` is what SimPy keeps in ``_now``, one slot under both names: SimPy's own ``now`` is a property,
    which takes six times as long and is read some 240 times per page.
    """

    __slots__ = ("_now",)


Clock.now = Clock.__dict__["_now"]  # type: ignore[method-assign]


class BrowsingDone(Protocol):
    """World that is browsing until it has seen enough."""

    browsing: bool


def run_events(env: Environment, world: BrowsingDone, most: int) -> int:
    """Fire events as ``env.step()`` does, but in one loop, and return how many.

    Parameters
    ----------
    env
        The clock.
    world
        While it is browsing.
    most
        After so many events it is over too.

    Raises
    ------
    Exception
        What a process has raised, if nobody has caught it.
    """
    queue = env._queue
    for fired in range(most):
        if not world.browsing:
            return fired
        env._now, _, _, event = heappop(queue)
        if type(event) is ReusableEvent:
            action = event.action
            action(event)
            continue
        callbacks: Any = event.callbacks
        event.callbacks = None  # type: ignore[assignment]  # so SimPy tells an event that is over
        for callback in callbacks:
            callback(event)
        if not event._ok and not hasattr(event, "_defused"):
            raise event._value
    return most
