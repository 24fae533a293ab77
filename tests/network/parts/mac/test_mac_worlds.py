"""Random worlds over the air: runs end, nothing is lost track of, and nobody receives asleep.

``PSM_SIM_RANDOM_WORLDS=1000`` tries as many worlds; the tests try 42.
"""

from __future__ import annotations

import os

import pytest

from psm_sim.common.random_streams import random_stream
from psm_sim.network import Observer, PageError, build_world, load_topology
from psm_sim.network.topology_sections import RATES_MBPS
from psm_sim.policies import make_policy
from psm_sim.workload.page_view import Page

WORLDS = int(os.environ.get("PSM_SIM_RANDOM_WORLDS", "42"))
EVENTS = 200_000
POLICIES = (
    "always-on", "psm", "psm:listen_interval=3", "bsd:p=0.3", "bsd:p=2", "lpsm:loss=inverse", "lpsm",
    "dynamic", "skip", "outstanding",
)  # fmt: skip


class Witness(Observer):
    """Keeps when the radio was awake, which beacons it heard, and when frames passed on the air."""

    def __init__(self):
        self.changes, self.heard, self.frames = [(0.0, True)], [], []

    def radio(self, time_s, awake):
        self.changes.append((time_s, awake))

    def beacons(self, first_s, count, every_s):
        self.heard += [first_s + number * every_s for number in range(count)]

    def frame(self, link, queued_s, arrives_s, segment):
        if link.name.startswith("wireless"):
            self.frames.append((queued_s, arrives_s))


def settings_of(random):
    standard = str(random.choice(list(RATES_MBPS)))
    return {
        "mac.model": "dcf",
        "mac.standard": standard,
        "mac.data_mbps": float(random.choice(RATES_MBPS[standard])),
        "mac.preamble": str(random.choice(["long", "short"])),
        "mac.qos": bool(random.integers(2)),
        "mac.fetch": str(random.choice(["ps-poll", "null"])),
        "mac.poll_first": bool(random.integers(2)),
        "mac.cw_min": int(random.choice([0, 1, 7, 31])),
        "mac.retry_limit": int(random.choice([0, 1, 7])),
        "mac.seed": int(random.integers(1000)),
        "access_point.release_on_uplink": bool(random.integers(2)),
        "access_point.buffer_frames": int(random.choice([2, 10, 256])),
        "beacon.interval_ms": float(random.choice([20.0, 100.0, 102.4, 1000.0])),
        "station.wake_ms": float(random.choice([0.0, 2.0])),
        "links.wired.latency_ms": float(random.choice([0.1, 20.0, 300.0])),
        "links.wired.rate_mbps": float(random.choice([0.5, 10.0, 1000.0])),
        "tcp.max_window": int(random.choice([1, 8, 44])),
        "tcp.delayed_ack_ms": float(random.choice([0.0, 100.0])),
        "browser.persistent": bool(random.integers(2)),
    }


def page_of(random):
    images = tuple(int(size) for size in random.integers(1, 60_000, random.integers(5)))
    count = 1 + len(images)
    delays = tuple(float(random.choice([0.0, 0.4])) for _ in range(count))
    return Page(
        float(random.uniform(0.001, 20)), int(random.integers(1, 100_000)), images, (300,) * count, delays
    )


def run(number):
    """Run a world; return it, what its witness saw, and which it is."""
    random = random_stream(1, "random worlds over the air", number)
    settings, policy = settings_of(random), str(random.choice(POLICIES))
    witness = Witness()
    world = build_world(load_topology("three-node", settings), make_policy(policy), [witness])
    left, step = EVENTS, world.env.step

    def counted():
        nonlocal left
        left -= 1
        assert left > 0, which
        step()

    which = f"world {number}: {policy}, {settings}"
    world.env.step = counted
    pages = [page_of(random) for _ in range(random.integers(1, 4))]
    try:
        world.run(pages)
        complete = len(pages)
    except PageError as failed:
        complete = int(str(failed).split()[1]) - 1  # it names the page
    assert len(world.visits) == complete, which
    return world, witness, which


def balance(world, which):
    """Time, energy and bytes add up."""
    usage = world.usage()
    assert usage.awake_s + usage.asleep_s == pytest.approx(world.env.now, rel=1e-9), which
    assert min(usage) >= 0, which
    energy_j = 0.75 * usage.awake_s + 0.05 * usage.asleep_s + 0.0015 * usage.beacons
    assert usage.total_j == pytest.approx(energy_j, rel=1e-9), which
    arrived = world.client.received_bytes + world.access_point.dropped_bytes
    assert world.server.sent_bytes == arrived + world.undelivered_bytes, which
    uplink = world.wireless_up.in_flight_bytes + world.wired_up.in_flight_bytes
    lost = world.wireless_up.lost_bytes
    assert world.client.sent_bytes == world.server.received_bytes + uplink + lost, which


def awake_throughout(witness, which):
    """No frame passes while the radio dozes, no two frames share the air, beacons are heard on their grid."""
    changes = sorted(witness.changes, key=lambda change: change[0])
    assert changes == witness.changes, which
    dozes = [
        (start, end)
        for (start, awake), (end, _) in zip(changes, [*changes[1:], (float("inf"), True)], strict=True)
        if not awake
    ]
    place = 0
    for start_s, end_s in witness.frames:
        while place < len(dozes) and dozes[place][1] <= start_s + 1e-9:
            place += 1
        assert place == len(dozes) or dozes[place][0] >= end_s - 1e-9, which
    for (_, end_s), (start_s, _) in zip(witness.frames, witness.frames[1:], strict=False):
        assert start_s > end_s, which


@pytest.mark.parametrize("part", range(6))
def test_a_random_world_over_the_air_ends_and_keeps_the_laws(part):
    """Every sixth world in each part, so that the parts can share the cores."""
    for number in range(part, WORLDS, 6):
        world, witness, which = run(number)
        balance(world, which)
        awake_throughout(witness, which)
        assert all(world.beacons.on(time_s) for time_s in witness.heard), which


def test_the_same_world_runs_the_same_way_twice():
    """To the last bit."""
    (one, first, _), (two, second, _) = run(4), run(4)
    assert one.usage() == two.usage()
    assert (first.frames, first.changes) == (second.frames, second.changes)
