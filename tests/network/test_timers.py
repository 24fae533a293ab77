"""Events that are armed again and again."""

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


def test_a_pulse_may_be_armed_from_its_own_action(env):
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
    """A deadline may be moved later or earlier, in any order."""
    log = []
    alarm = Alarm(env, lambda: log.append(env.now))
    for deadline in deadlines:
        alarm.at(deadline)
    env.run()
    assert log == fired


def test_an_alarm_switched_off_does_not_fire(env):
    """What is left in SimPy's queue does nothing."""
    log = []
    alarm = Alarm(env, lambda: log.append(env.now))
    alarm.at(5.0)
    alarm.cancel()
    env.run()
    assert log == []


def test_an_alarm_can_be_set_again_after_a_firing_left_a_stale_one_behind(env):
    """Moved earlier, fired, then set again: each deadline once."""
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


def test_moving_a_deadline_later_queues_nothing(env):
    """The pending firing moves itself on: two events for a hundred moves."""
    alarm = Alarm(env, lambda: None)
    for deadline in range(1, 101):
        alarm.at(float(deadline))
    steps = 0
    while env.peek() < float("inf"):
        env.step()
        steps += 1
    assert steps == 2


def test_beacons_come_after_all_else_at_the_same_time(env):
    """The documented order at equal times."""
    log = []
    Alarm(env, lambda: log.append("beacon"), LOWEST_PRIORITY).at(1.0)
    Alarm(env, lambda: log.append("frame")).at(1.0)
    env.run()
    assert log == ["frame", "beacon"]


def test_timers_fire_at_their_deadlines_whatever_was_moved_or_taken_back(env):
    """Drawn plans, each moved some times: only the last deadline of each counts."""
    rng, timers, log = np.random.default_rng(5), TimerQueue(env), list[tuple[float, int]]()
    expected = []
    for number in range(50):
        timer = Timer(timers, partial(lambda each: log.append((env.now, each)), number))
        for deadline_s in rng.uniform(0, 10, rng.integers(1, 5)).tolist():
            timer.at(deadline_s)
        if rng.random() < 0.5:
            timer.deadline = inf
        else:
            expected.append((timer.deadline, number))
    env.run()
    assert log == sorted(expected)


def test_a_timer_can_be_set_again_from_its_own_action(env):
    """As TCP does after a timeout."""
    log, timers = list[float](), TimerQueue(env)

    def action():
        log.append(env.now)
        if len(log) < 3:
            timer.at(env.now + 2)

    timer = Timer(timers, action)
    timer.at(1.0)
    env.run()
    assert log == [1.0, 3.0, 5.0]


def test_timers_taken_back_leave_together():
    """A hundred, none of which fires, cost one event of SimPy's."""
    env, steps = Environment(), 0
    timers = TimerQueue(env)
    for number in range(100):
        timer = Timer(timers, lambda: None)
        timer.at(1.0 + number)
        timer.deadline = inf
    while env.peek() < inf:
        env.step()
        steps += 1
    assert steps == 1


def test_a_deadline_that_moves_to_and_fro_leaves_nothing_behind(env):
    """A timer set earlier and later 1,000 times fires once, at the last deadline."""
    log, timers = list[float](), TimerQueue(env)
    timer = Timer(timers, lambda: log.append(env.now))
    for number in range(1_000):
        timer.at(10.0 - number / 1_000)
        timer.at(20.0)
    env.run()
    assert log == [20.0]


def test_an_event_that_is_queued_for_later_is_not_queued_again():
    """A deadline of 10 s, and in turn twenty earlier ones that fire: 21 events, none of them in vain."""
    env, steps, log = Environment(), 0, list[float]()
    timers = TimerQueue(env)
    late, early = (Timer(timers, lambda: log.append(env.now)) for _ in range(2))
    late.at(10.0)
    for number in range(20):
        early.at(0.1 * (number + 1))
        env.step()
        steps += 1
    while env.peek() < inf:
        env.step()
        steps += 1
    assert (steps, len(log), log[-1]) == (21, 21, 10.0)
