"""Chain: the traffic of some pages as silences and activities, each caused by what came before.

A chain is read off a run without power saving (:mod:`psm_sim.hindsight.chain_recorder`). It holds fixed what the
radio transmits and for how long it is silent in between; a frame that is delivered late delays all that
comes after it by as much. That makes the cost of a schedule of polls exact and computable, for any policy
and for hindsight's best one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from psm_sim.beacons import Beacons
from psm_sim.policies import Policy, Poll
from psm_sim.policies.user_policy_guard import guard_policy


class Step(NamedTuple):
    """One silence and the activity that ends it; times in seconds.

    ``downlink`` says that a frame from the access point ends the silence, else the station sends.
    ``since_uplink_s`` is the time from the last uplink packet to the end of the activity, ``inf`` if it had
    none. ``held`` has the offset in ms and the bytes of each frame that would be held, were the station
    asleep at the beginning. ``weight`` is what a second of delay of the activity counts.
    """

    silent_s: float
    downlink: bool
    busy_s: float
    since_uplink_s: float
    buffered: tuple[tuple[float, int], ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Chain:
    """Chain: the steps of some pages, with the beacons, and the powers (W) and energy (J) that price them."""

    steps: tuple[Step, ...]
    pages: int
    beacons: Beacons
    awake_w: float
    asleep_w: float
    beacon_j: float


class PolicyCost(NamedTuple):
    """Cost of a schedule: joules, seconds of delay in all, and the worst delivery.

    ``worst_stretch`` is the largest ratio of a delivery's time since the last uplink packet to what it
    would have been without delay.
    """

    energy_j: float
    delay_s: float
    worst_stretch: float


def evaluate_policy(chain: Chain, policy: Policy) -> PolicyCost:
    """Let a policy sleep through a chain, and return its cost."""
    player = _Player(chain, guard_policy(policy))
    for step in chain.steps:
        player.take(step)
    return PolicyCost(player.energy_j, player.delay_s, player.worst_stretch)


class _Player:
    """The radio on a chain; it is idle at ``now_s``, and ``poll`` is what it saw when it last woke."""

    def __init__(self, chain: Chain, policy: Policy) -> None:
        self.chain, self.policy = chain, policy
        policy.start(chain.beacons.interval_s)
        self.now_s = self.uplink_s = 0.0
        self.poll: Poll | None = None
        self.energy_j = self.delay_s = 0.0
        self.worst_stretch = 1.0

    def take(self, step: Step) -> None:
        """Rest through the silence, then be awake for the activity."""
        chain = self.chain
        due_s = self.now_s + step.silent_s
        begin_s = self._rest_until(due_s, step)
        self.delay_s += step.weight * (begin_s - due_s)
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
            wake_s = chain.beacons.time(chain.beacons.after(doze_s) + rest.beacons - 1)
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
            (first_ms + offset, size) for offset, size in step.buffered if first_ms + offset <= slept_ms
        )
        return Poll(slept_ms, sum(size for _, size in arrivals), len(arrivals), arrivals)
