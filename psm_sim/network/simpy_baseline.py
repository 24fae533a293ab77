"""Bare SimPy: a process that yields timeouts and nothing else, the least that an event can cost."""

from __future__ import annotations

from collections.abc import Generator

from simpy import Environment, Event


def run_timeouts(events: int) -> None:
    """Fire so many events."""
    env = Environment()
    env.process(_yielding(env, events))
    env.run()


def _yielding(env: Environment, events: int) -> Generator[Event, None, None]:
    for _ in range(events):
        yield env.timeout(1.0)
