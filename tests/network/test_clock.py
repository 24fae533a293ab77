"""The clock of a world, and its loop."""

from __future__ import annotations

import pytest
from simpy import Environment, Interrupt

from psm_sim.network.timers import Clock, run_events


class Watched:
    """World that stops browsing when a test says so."""

    browsing = True


def processes(env, log, world):
    """Start a process that waits for finished, interrupted and failing processes."""

    def sleeper():
        try:
            yield env.timeout(10)
        except Interrupt as interrupt:
            log.append((env.now, interrupt.cause))
        return "slept"

    def failing():
        yield env.timeout(2)
        raise ValueError("caught")

    def main():
        sleeping, over = env.process(sleeper()), env.timeout(1, "over")
        yield env.timeout(1.5)
        sleeping.interrupt("early")
        log.append((env.now, (yield sleeping)))
        try:
            yield env.process(failing())
        except ValueError as error:
            log.append((env.now, str(error)))
        log.append((env.now, (yield over)))
        yield env.timeout(0) & env.timeout(1)
        log.append((env.now, "end"))
        world.browsing = False
        yield env.timeout(1)
        log.append((env.now, "never"))

    env.process(main())


def stepped(env, world):
    count = 0
    while world.browsing:
        env.step()
        count += 1
    return count


def test_processes_run_as_in_simpy():
    """Interrupts, caught failures and conditions give the same log and the same number of events."""
    logs, counts = [], []
    for env, loop in ((Environment(), stepped), (Clock(), lambda env, world: run_events(env, world, 1000))):
        world, log = Watched(), list[tuple[float, str]]()
        processes(env, log, world)
        counts.append(loop(env, world))
        logs.append(log)
    assert (
        logs[0] == logs[1] == [(1.5, "early"), (1.5, "slept"), (3.5, "caught"), (3.5, "over"), (4.5, "end")]
    )
    assert counts[0] == counts[1]


def test_an_uncaught_exception_ends_the_loop():
    """The loop raises the same exception object."""

    def failing():
        yield clock.timeout(1)
        raise ValueError("uncaught")

    clock = Clock()
    clock.process(failing())
    with pytest.raises(ValueError, match="uncaught"):
        run_events(clock, Watched(), 100)


def test_the_loop_fires_at_most_the_maximum_number_of_events():
    """The other events stay in the queue."""
    clock = Clock()
    for number in range(5):
        clock.timeout(number)
    assert run_events(clock, Watched(), 3) == 3
    assert (clock.now, clock.peek()) == (2, 3)
