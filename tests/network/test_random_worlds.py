"""Random worlds: whatever the settings, a run ends or fails with a sentence, and nothing is lost track of.

The tests try 100 worlds. ``PSM_SIM_RANDOM_WORLDS=1000 python -m pytest tests/network/test_random_worlds.py``
tries 1,000, and any other number as many.
"""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from psm_sim.errors import InputError
from psm_sim.network import PageError, World, load_topology
from psm_sim.policies import make_policy
from psm_sim.randomness import stream
from psm_sim.workload.page import Page

WORLDS = int(os.environ.get("PSM_SIM_RANDOM_WORLDS", "100"))
PART = 10
EVENTS = 50_000
"""The most events of a world; of the first thousand, none takes 21,000."""
WALL_S = 60.0
"""Its longest wall-clock time in seconds, which only the long command judges."""

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
)


class Draw:
    """Draws the numbers of one world."""

    def __init__(self, number):
        self.random: np.random.Generator = stream(1, "random worlds", number)

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
        "beacon.interval_ms": draw.log(1, 10_000),
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
        "tcp.min_rto_ms": draw.one_of(200.0, 1000.0),
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


def world_of(number):
    """Return a world, its pages, and what tells which it is."""
    draw = Draw(number)
    settings, policy, pages = settings_of(draw), policy_of(draw), pages_of(draw)
    world = World(load_topology("three-node", settings), make_policy(policy))
    return world, pages, f"world {number}: {policy}, {settings}, {pages}"


def run(world, pages):
    """Run, and return the sentence with which it failed, if it did."""
    try:
        world.run(pages)
    except PageError as failed:
        return str(failed)
    return ""


class Budget:
    """Ends a run that has had its events."""

    def __init__(self, world):
        self.left, self.step = EVENTS, world.env.step
        world.env.step = self

    def __call__(self):
        self.left -= 1
        assert self.left > 0, "more events than a world may take"
        self.step()


def check(number):
    world, pages, which = world_of(number)
    budget, begun_s = Budget(world), time.perf_counter()
    try:
        failed = run(world, pages)
    except AssertionError as error:
        raise AssertionError(f"{which}: {error}") from None
    wall_s = time.perf_counter() - begun_s
    assert failed or len(world.visits) == len(pages), which
    assert not failed or f"Page {len(world.visits) + 1} under " in failed, which
    balance(world, which)
    assert WORLDS <= 100 or wall_s < WALL_S, which
    return EVENTS - budget.left, wall_s, failed


def balance(world, which):
    """Time, energy and bytes add up, also where the run has failed."""
    usage = world.usage()
    assert usage.awake_s + usage.asleep_s == pytest.approx(world.env.now, rel=1e-9), which
    assert min(usage) >= 0, which
    energy_j = 0.75 * usage.awake_s + 0.05 * usage.asleep_s + 0.0015 * usage.beacons
    assert usage.total_j == pytest.approx(energy_j, rel=1e-9), which
    arrived = world.client.received_bytes + world.access_point.dropped_bytes
    assert world.server.sent_bytes == arrived + world.undelivered_bytes, which
    uplink = world.wireless_up.in_flight_bytes + world.wired_up.in_flight_bytes
    assert world.client.sent_bytes == world.server.received_bytes + uplink, which


@pytest.mark.parametrize("part", range(PART))
def test_a_random_world_ends_or_fails_with_a_sentence_and_loses_nothing(part):
    """Within its events; every tenth world in each part, so that the parts can share the cores."""
    for number in range(part, WORLDS, PART):
        check(number)


def test_the_random_worlds_are_worth_trying():
    """Most of them load their pages, some lose frames, and no setting was out of its range."""
    ended = dropped = 0
    for number in range(30):
        world, pages, _ = world_of(number)
        ended += not run(world, pages)
        dropped += world.access_point.dropped_frames > 0
    assert ended >= 15
    assert dropped >= 1


def test_a_world_without_an_answer_fails_with_a_sentence_even_so():
    """The budget itself ends what would not: a world that is stopped after a few events."""
    world, pages, _ = world_of(0)
    Budget(world).left = 5
    with pytest.raises(AssertionError, match="more events"):
        world.run(pages)
    with pytest.raises(InputError, match="rate_mbps"):
        load_topology("three-node", {"links.wired.rate_mbps": 0.009})
