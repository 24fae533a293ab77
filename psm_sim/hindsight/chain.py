"""Chain of traffic: activity, silence, activity, each caused by what came before.

A chain is read off a run without power saving. It holds fixed what the radio transmits and for how long
it is silent in between; a frame that is delivered late delays all that comes after it by the same time. That
makes the cost of a schedule of polls exact and computable, for any policy and for hindsight's best one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from psm_sim.beacons import beacon_after
from psm_sim.network import Topology, World
from psm_sim.network.segment import Segment
from psm_sim.policies import Policy, Poll
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.policies.guard import guarded
from psm_sim.workload.page import Page


class Step(NamedTuple):
    """One silence and the activity that ends it; times in seconds.

    ``downlink`` says that a frame from the access point ends the silence, else the station sends.
    ``since_uplink_s`` is the time from the last uplink packet to the end of the activity, ``inf`` if it had
    none. ``held`` has the offset in ms and the bytes of each frame that would be held, were the station
    asleep at the beginning.
    """

    silent_s: float
    downlink: bool
    busy_s: float
    since_uplink_s: float
    held: tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class Chain:
    """The steps of some pages, with the beacon interval and the powers that price them."""

    steps: tuple[Step, ...]
    pages: int
    beacon_s: float
    awake_w: float
    asleep_w: float
    beacon_j: float


class Played(NamedTuple):
    """Cost of a schedule: joules, seconds of delay in all, and the worst delivery.

    ``worst_stretch`` is the largest ratio of a delivery's time since the last uplink packet to what it
    would have been without delay.
    """

    energy_j: float
    delay_s: float
    worst_stretch: float


def record_chain(pages: Sequence[Page], topology: Topology) -> Chain:
    """Load the pages without power saving, and return their traffic as a chain."""
    world = World(topology, AlwaysOn())
    activity: list[tuple[float, float, bool, int]] = []

    def uplink(queued_s: float, _: float, segment: Segment) -> None:
        # Busy until the link is free, not until the frame arrives; the link knows it before it tells this.
        activity.append((queued_s, world.wireless_up.free_at, False, segment.wire_bytes))

    def downlink(queued_s: float, arrival_s: float, segment: Segment) -> None:
        activity.append((queued_s, arrival_s, True, segment.wire_bytes))

    world.wireless_up.observers.append(uplink)
    world.wireless_down.observers.append(downlink)
    world.run(pages)
    power = topology.power
    return Chain(
        tuple(_steps(activity)),
        len(pages),
        topology.beacon.interval_ms / 1000,
        power.awake_w,
        power.asleep_w,
        power.beacon_j,
    )


def _steps(activity: Sequence[tuple[float, float, bool, int]]) -> list[Step]:
    """Join what overlaps into activities, and measure the silences between."""
    steps: list[Step] = []
    idle_s, first = 0.0, 0
    while first < len(activity):
        begin_s, end_s = activity[first][:2]
        last = first + 1
        while last < len(activity) and activity[last][0] <= end_s:
            end_s = max(end_s, activity[last][1])
            last += 1
        steps.append(_step(activity[first:last], begin_s - idle_s, end_s - begin_s))
        idle_s, first = end_s, last
    return steps


def _step(activity: Sequence[tuple[float, float, bool, int]], silent_s: float, busy_s: float) -> Step:
    begin_s = activity[0][0]
    uplinks = [queued_s for queued_s, _, is_downlink, _ in activity if not is_downlink]
    since_s = begin_s + busy_s - uplinks[-1] if uplinks else inf
    # The first uplink packet wakes the station: what comes later is not held.
    first_uplink_s = uplinks[0] if uplinks else inf
    held = tuple(
        (1000 * (queued_s - begin_s), size)
        for queued_s, _, is_downlink, size in activity
        if is_downlink and queued_s <= first_uplink_s
    )
    return Step(silent_s, activity[0][2], busy_s, since_s, held)


def play(chain: Chain, policy: Policy) -> Played:
    """Let a policy sleep through a chain, and return its cost."""
    player = _Player(chain, guarded(policy))
    for step in chain.steps:
        player.take(step)
    return Played(player.energy_j, player.delay_s, player.worst_stretch)


class _Player:
    """The radio on a chain; it is idle at ``now_s``, and ``poll`` is what it saw when it last woke."""

    def __init__(self, chain: Chain, policy: Policy) -> None:
        self.chain, self.policy = chain, policy
        policy.start(chain.beacon_s)
        self.now_s = self.uplink_s = 0.0
        self.poll: Poll | None = None
        self.energy_j = self.delay_s = 0.0
        self.worst_stretch = 1.0

    def take(self, step: Step) -> None:
        """Rest through the silence, then be awake for the activity."""
        chain = self.chain
        due_s = self.now_s + step.silent_s
        begin_s = self._rest_until(due_s, step)
        self.delay_s += begin_s - due_s
        if due_s > self.uplink_s:
            stretch = (begin_s - self.uplink_s) / (due_s - self.uplink_s)
            self.worst_stretch = max(self.worst_stretch, stretch)
        self.now_s = begin_s + step.busy_s
        self.energy_j += chain.awake_w * step.busy_s
        if step.since_uplink_s < inf:
            self.uplink_s = self.now_s - step.since_uplink_s
            self.policy.uplink(self.uplink_s)

    def _rest_until(self, due_s: float, step: Step) -> float:
        """Return when the activity due at *due_s* begins; the energy until then is added."""
        chain, now_s = self.chain, self.now_s
        while True:
            rest = self.policy.rest(now_s, now_s - self.uplink_s, self.poll)
            self.poll = None
            doze_s = now_s + rest.awake_s
            if doze_s >= due_s:
                self.energy_j += chain.awake_w * (due_s - now_s)
                return due_s
            wake_s = (beacon_after(doze_s, chain.beacon_s) + rest.beacons - 1) * chain.beacon_s
            self.energy_j += chain.awake_w * rest.awake_s
            if not step.downlink and wake_s >= due_s:
                self.energy_j += chain.asleep_w * (due_s - doze_s)
                self.policy.interrupted(Poll(1000 * (due_s - doze_s)))
                return due_s
            self.energy_j += chain.asleep_w * (wake_s - doze_s) + chain.beacon_j
            self.poll = self._seen(doze_s, wake_s, due_s, step)
            if wake_s >= due_s:
                return wake_s
            now_s = wake_s

    @staticmethod
    def _seen(doze_s: float, wake_s: float, due_s: float, step: Step) -> Poll:
        first_ms = 1000 * (due_s - doze_s)
        slept_ms = 1000 * (wake_s - doze_s)
        arrivals = tuple(
            (first_ms + offset, size) for offset, size in step.held if first_ms + offset <= slept_ms
        )
        return Poll(slept_ms, sum(size for _, size in arrivals), len(arrivals), arrivals)
