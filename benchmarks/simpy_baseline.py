"""Minimal SimPy process, the reference of the event rates."""

from __future__ import annotations

from collections.abc import Generator

from simpy import Environment, Event


def run_timeouts(events: int) -> None:
    """Run a process of *events* timeouts."""
    env = Environment()
    env.process(_timeouts(env, events))
    env.run()


def _timeouts(env: Environment, events: int) -> Generator[Event, None, None]:
    for _ in range(events):
        yield env.timeout(1.0)
