"""Random worlds: with any settings, a run ends or fails with a message, and the laws hold.

The tests try 100 worlds, half of them with faults, and 50 with every fault switched on at once.
``PSM_SIM_RANDOM_WORLDS=2000 python -m pytest tests/network/test_random_worlds.py`` tries 2,000 and 1,000, and
any other number as many.
"""

from __future__ import annotations

import os
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from psm_sim.common.errors import InputError
from psm_sim.common.random_streams import random_stream
from psm_sim.network import PageError, build_world, load_topology, run_alone
from psm_sim.network.timers import run_events
from psm_sim.policies import make_policy
from psm_sim.workload.messages import DATAGRAM, Message, Messages
from psm_sim.workload.page_view import Page
from tests.network.laws import Watch, balance
from tests.network.worlds import page_times_s, run_world

WORLDS = int(os.environ.get("PSM_SIM_RANDOM_WORLDS", "100"))
PART = 5
EVENTS = 100_000
"""Maximum number of events of a world."""

POLICIES = (
    "always-on",
    "psm",
    "psm:listen_interval={interval}",
    "bsd:p={p}",
    "bsd:p={p},max_sleep_ms=none",
    "lpsm:loss=inverse",
    "lpsm:loss=inverse-log,uplink=keep",
    "lpsm:uplink=restart,learn_on_uplink=true",
    "lpsm:acks=uplink",
    "lpsm:alpha=0.01,min_ms=50,max_ms=3000,step_ms=50",
    "dynamic",
    "predict",
    "stpm",
    "share-timeout",
    "adaptive",
    "smart",
    "anticipate",
    "uapsd",
    "twt",
)


class Draw:
    """Draw the numbers of one world."""

    def __init__(self, number):
        self.random: np.random.Generator = random_stream(1, "random worlds", number)

    def log(self, low, high):
        """Return a number whose logarithm is uniform."""
        return float(np.exp(self.random.uniform(np.log(low), np.log(high))))

    def whole(self, low, high):
        return min(high, int(self.log(low, high + 1)))

    def one_of(self, *values):
        return values[int(self.random.integers(len(values)))]


def settings_of(draw):
    return {
        "links.wireless.rate_mbps": draw.log(0.01, 1000),
        "links.wired.rate_mbps": draw.log(0.01, 1000),
        "links.wireless.latency_ms": draw.log(0.01, 2000),
        "links.wired.latency_ms": draw.log(0.01, 2000),
        "beacon.interval_ms": draw.log(20, 10_000),
        "access_point.buffer_frames": draw.whole(1, 1000),
        "access_point.release_on_uplink": draw.one_of(True, False),
        "access_point.late_frames": draw.one_of("join", "wait"),
        "browser.connections": draw.whole(1, 8),
        "browser.persistent": draw.one_of(True, False),
        "browser.asks_first": draw.one_of(True, False),
        "tcp.growth": draw.one_of("ns2", "rfc5681", "ns3"),
        "tcp.delayed_ack": draw.one_of("timer", "heartbeat"),
        "tcp.delayed_ack_ms": draw.one_of(0.0, 40.0, 100.0, 500.0),
        "tcp.initial_window": draw.whole(1, 10),
        "tcp.max_window": draw.whole(1, 1000),
        "tcp.segment_bytes": draw.whole(100, 9000),
        "tcp.stack": draw.one_of("rfc", "linux", "lwip", "esp-idf", "ns3"),
        "browser.closes_first": draw.one_of("server", "client"),
    }


def pages_of(draw):
    return [page_of(draw) for _ in range(draw.whole(1, 4))]


def page_of(draw):
    images = tuple(draw.whole(1, 100_000) for _ in range(int(draw.random.integers(6))))
    count = 1 + len(images)
    requests = tuple(draw.whole(1, 3000) for _ in range(count))
    delays = tuple(draw.one_of(0.0, draw.log(0.001, 10.0)) for _ in range(count))
    return Page(draw.log(0.01, 300.0), draw.whole(1, 300_000), images, requests, delays)


def policy_of(draw):
    text = draw.one_of(*POLICIES)
    return text.format(interval=draw.whole(2, 1000), p=round(draw.log(0.05, 5.0), 3))


def messages_of(draw):
    """Return background messages for a quarter of the worlds, on two connections and on none."""
    if draw.one_of(True, True, True, False):
        return Messages()
    connections = (DATAGRAM, 0, 1)
    drawn = ((draw.log(0.1, 500.0), draw.whole(41, 3000), draw.one_of(True, False)) for _ in range(20))
    return Messages(
        [Message(*values, draw.one_of(0, 100), 0.1, draw.one_of(*connections)) for values in drawn]
    )


FAULTS = {
    "faults.wireless.loss": lambda draw: draw.log(0.001, 0.5),
    "faults.wired.loss": lambda draw: draw.log(0.001, 0.3),
    "faults.restart_every_s": lambda draw: draw.log(20.0, 1000.0),
    "browser.max_page_s": lambda draw: draw.log(1.0, 10_000.0),
    "beacon.loss": lambda draw: draw.log(0.001, 0.9),
    "access_point.idle_limit_s": lambda draw: draw.log(1.0, 1000.0),
    "access_point.ageing_s": lambda draw: draw.log(0.1, 100.0),
}
"""Functions that sample the rate of each fault."""

TIMES = {
    "faults.wireless.loss_run": lambda draw: draw.one_of(None, draw.log(1.0, 100.0)),
    "faults.wired.loss_run": lambda draw: draw.one_of(None, draw.log(1.0, 100.0)),
    "faults.restart_s": lambda draw: draw.one_of(0.0, draw.log(0.1, 100.0)),
}
"""Functions that sample the other settings of faults."""


def faults_of(draw, some):
    """Return settings that enable each fault, or *some* of them."""
    chosen = {
        key: drawn(draw) for key, drawn in FAULTS.items() if not some or draw.one_of(True, False, False)
    }
    return {
        **chosen,
        **{key: drawn(draw) for key, drawn in TIMES.items()},
    }


def world_of(number, faults="some"):
    """Return a world, its pages and messages, and its description.

    Every second world has some faults, or all of them with ``faults="all"``.
    """
    draw = Draw(number)
    settings, policy, pages = settings_of(draw), policy_of(draw), pages_of(draw)
    messages = messages_of(draw)
    if faults == "all" or number % 2:
        settings |= faults_of(draw, some=faults != "all")
    topology, watch = replace(load_topology("three-node", settings), seed=number), Watch()
    seen = [watch] if number % 4 < 2 else []  # only worlds without an observer use plans
    try:
        world = build_world(topology, make_policy(policy), seen)
    except InputError:  # the service periods of TWT are too short for a frame
        policy = "psm"
        world = build_world(topology, make_policy(policy), seen)
    world.watch = watch if seen else None
    if seen:
        watch.over(world)
    return world, pages, messages, f"world {number}: {policy}, {settings}, {pages}"


def run(world, pages, messages):
    """Run; return the message of a failure, or an empty text."""
    try:
        run_alone(world, pages, messages)
    except PageError as failed:
        return str(failed)
    return ""


class Budget:
    """Fail after a maximum number of events."""

    def __init__(self):
        self.left = EVENTS

    def fire(self, env, world, most):
        fired = run_events(env, world, min(most, self.left))
        self.left -= fired
        assert self.left > 0, "more events than a world may take"
        return fired


def check(number, faults="some"):
    world, pages, messages, which = world_of(number, faults)
    budget = Budget()
    try:
        with patch("psm_sim.network.world.run_events", budget.fire):
            failed = run(world, pages, messages)
    except Exception as error:
        raise AssertionError(f"{which}: {error!r}") from error
    assert failed or len(world.visits) == len(pages), which
    assert not failed or f"Page {len(world.visits) + 1} under " in failed, which
    assert not failed or faults != "all", which
    balance(world, which)
    if world.watch is not None and not failed:
        world.watch.at_end(world.env.now)
    assert world.watch is None or not world.watch.broken, (which, world.watch.broken[:3])
    return EVENTS - budget.left, failed, world


@pytest.mark.parametrize("part", range(PART))
def test_a_run_of_a_random_world_ends_or_fails_with_a_message_and_obeys_the_laws(part):
    """The limits are of events and time. Each part has every fifth world, to run parts in parallel."""
    for number in range(part, WORLDS, PART):
        check(number)


@pytest.mark.parametrize("part", range(PART))
def test_every_page_ends_and_the_laws_hold_with_all_faults_enabled_at_once(part):
    """Single losses and bursts on both hops, restarts, missed beacons, and dropped associations."""
    for number in range(part, WORLDS // 2, PART):
        check(1_000_000 + number, "all")


@pytest.mark.parametrize("number", [1, 5, 1_000_001, 1_000_004])
def test_a_random_world_is_reproducible(number):
    """Results are bit-for-bit equal, with some faults or all."""
    runs = [check(number, "all" if number > WORLDS else "some") for _ in range(2)]
    once, again = ((world.usage(), list(world.visits), events) for events, _, world in runs)
    assert once == again


def repeated(world):
    """Return the numbers of dropped frames and repeated segments, with those of open connections."""
    ends = [end for host in (world.server, world.client) for end in host.endpoints.values()]
    closed = world.server.retransmissions + world.client.retransmissions
    return world.port.dropped_frames + closed + sum(end.retransmissions for end in ends)


def times_of(number, policy):
    """Return the page times in seconds, and the drops and repeats, of a world without faults."""
    draw = Draw(number)
    settings, own = settings_of(draw), policy_of(draw)
    world = run_world(pages_of(draw), policy or own, **settings)
    return page_times_s(world), repeated(world), settings["tcp.delayed_ack_ms"] / 1000


def test_power_saving_makes_no_page_faster_except_by_a_delayed_ack():
    """Neither run drops or repeats a frame; otherwise chance decides, see docs/model.md."""
    judged = 0
    for number in range(0, 80, 2):
        try:
            (plain, *some, _), (saving, *more, ack_s) = times_of(number, "always-on"), times_of(number, "")
        except InputError:
            continue
        if not any((*some, *more)):
            judged += 1
            assert all(slow >= quick - ack_s - 1e-9 for slow, quick in zip(saving, plain, strict=True)), (
                number
            )
    assert judged >= 5
