"""Reusable timer events."""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np
import pytest
from simpy import Environment

from psm_sim.network.timers import LOWEST_PRIORITY, Alarm, ReusableEvent, Timer, TimerQueue


@pytest.fixture
def env() -> Environment:
    return Environment()


def test_a_pulse_can_be_armed_from_its_own_action(env):
    """A link arms its next arrival while it delivers one."""
    log: list[float] = []

    def action(fired):
        assert fired is pulse
        log.append(env.now)
        if len(log) < 3:
            pulse.arm(env.now + 1)

    pulse = ReusableEvent(env, action)
    pulse.arm(1.0)
    env.run()
    assert log == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("deadlines", "fired"),
    [
        ([5.0], [5.0]),
        ([5.0, 7.0], [7.0]),
        ([5.0, 3.0], [3.0]),
        ([5.0, 3.0, 6.0], [6.0]),
        ([5.0, 8.0, 2.0], [2.0]),
    ],
)
def test_an_alarm_fires_once_at_its_last_deadline(env, deadlines, fired):
    """Deadlines move later or earlier, in any order."""
    log = []
    alarm = Alarm(env, lambda: log.append(env.now))
    for deadline in deadlines:
        alarm.at(deadline)
    env.run()
    assert log == fired


def test_an_alarm_switched_off_does_not_fire(env):
    """The event that is left in SimPy's queue has no effect."""
    log = []
    alarm = Alarm(env, lambda: log.append(env.now))
    alarm.at(5.0)
    alarm.cancel()
    env.run()
    assert log == []


def test_an_alarm_can_be_set_again_with_a_stale_event_in_the_queue(env):
    """An alarm that is moved earlier, fires, and is set again, fires once per deadline."""
    log = []

    def action():
        log.append(env.now)
        if len(log) == 1:
            alarm.at(4.0)

    alarm = Alarm(env, action)
    alarm.at(5.0)
    alarm.at(3.0)
    env.run()
    assert log == [3.0, 4.0]


def test_beacons_come_after_all_other_events_at_the_same_time(env):
    """The order is documented."""
    log = []
    Alarm(env, lambda: log.append("beacon"), LOWEST_PRIORITY).at(1.0)
    Alarm(env, lambda: log.append("frame")).at(1.0)
    env.run()
    assert log == ["frame", "beacon"]


def test_timers_fire_at_their_last_deadlines_unless_cancelled(env):
    """Random timers, moved several times each, fire only at their last deadlines."""
    rng, timers, log = np.random.default_rng(5), TimerQueue(env), list[tuple[float, int]]()
    expected = []
    for number in range(50):
        timer = Timer(timers, partial(lambda index: log.append((env.now, index)), number))
        for deadline_s in rng.uniform(0, 10, rng.integers(1, 5)).tolist():
            timer.at(deadline_s)
        if rng.random() < 0.5:
            timer.deadline = inf
        else:
            expected.append((timer.deadline, number))
    env.run()
    assert log == sorted(expected)


def test_a_timer_can_be_set_again_from_its_own_action(env):
    """TCP does so after a timeout."""
    log, timers = list[float](), TimerQueue(env)

    def action():
        log.append(env.now)
        if len(log) < 3:
            timer.at(env.now + 2)

    timer = Timer(timers, action)
    timer.at(1.0)
    env.run()
    assert log == [1.0, 3.0, 5.0]


def test_a_deadline_that_moves_back_and_forth_leaves_no_events(env):
    """A timer set earlier and later 1,000 times fires once, at the last deadline."""
    log, timers = list[float](), TimerQueue(env)
    timer = Timer(timers, lambda: log.append(env.now))
    for number in range(1_000):
        timer.at(10.0 - number / 1_000)
        timer.at(20.0)
    env.run()
    assert log == [20.0]
