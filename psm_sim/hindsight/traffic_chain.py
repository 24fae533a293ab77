"""Traffic of a sequence of pages as a chain of idle periods and activities.

A chain is recorded from a run without power saving (:mod:`psm_sim.hindsight.traffic_chain_recorder`). The
duration of each activity and of each idle period is fixed. A frame that is delivered late delays all
later traffic by the same time. With this assumption the cost of a sleep schedule can be computed exactly,
both for policies and for the offline optimum. On an open chain a late frame delays no later traffic, as
with messages that are sent at fixed times.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from psm_sim.beacons import Beacons
from psm_sim.policies import Policy, Poll
from psm_sim.policies.user_policy_guard import guard_policy


class Step(NamedTuple):
    """One idle period and the activity that ends it.

    Attributes
    ----------
    idle_s, busy_s : float
        Durations of the idle period and of the activity, in seconds.
    downlink : bool
        Whether a frame from the access point ends the idle period. Otherwise the station sends.
    since_uplink_s : float
        Time from the last uplink packet of the activity to its end, in seconds; ``inf`` for an activity
        without uplink packets.
    buffered : tuple of (float, int)
        Frames that the access point buffers if the station dozes when the activity begins. Each frame has a
        time since the beginning in ms, and a size in bytes.
    weight : float
        Factor by which the delay of the activity counts in the total delay.
    """

    idle_s: float
    downlink: bool
    busy_s: float
    since_uplink_s: float
    buffered: tuple[tuple[float, int], ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Chain:
    """Steps of a sequence of pages, with the beacons, powers (W) and beacon energy (J).

    On an open chain (*is_open*) a late frame delays no later step. Only the offline optimum supports it.
    """

    steps: tuple[Step, ...]
    pages: int
    beacons: Beacons
    awake_w: float
    asleep_w: float
    beacon_j: float
    is_open: bool = False


class PolicyCost(NamedTuple):
    """Cost of a sleep schedule.

    Attributes
    ----------
    energy_j : float
        Energy, in joules.
    delay_s : float
        Total delay, in seconds.
    worst_stretch : float
        Largest factor (at least 1) by which a delay extends the time from the last uplink packet to a
        delivery.
    """

    energy_j: float
    delay_s: float
    worst_stretch: float


def evaluate_policy(chain: Chain, policy: Policy) -> PolicyCost:
    """Run a policy on a chain, and return its cost."""
    radio = _ChainRadio(chain, guard_policy(policy))
    for step in chain.steps:
        radio.advance(step)
    return PolicyCost(radio.energy_j, radio.delay_s, radio.worst_stretch)


class _ChainRadio:
    """Radio on a chain. It is idle at ``now_s``, and ``poll`` is its last observation."""

    def __init__(self, chain: Chain, policy: Policy) -> None:
        self.chain, self.policy = chain, policy
        policy.start(chain.beacons.interval_s)
        self.now_s = self.uplink_s = 0.0
        self.poll: Poll | None = None
        self.energy_j = self.delay_s = 0.0
        self.worst_stretch = 1.0

    def advance(self, step: Step) -> None:
        """Sleep through the idle period as the policy decides, then stay awake for the activity."""
        chain = self.chain
        due_s = self.now_s + step.idle_s
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
        """Follow the policy until the activity due at *due_s* begins, and return its start time."""
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
            self.poll = self._make_poll(doze_s, wake_s, due_s, step)
            if wake_s >= due_s:
                return wake_s
            now_s = wake_s

    @staticmethod
    def _make_poll(doze_s: float, wake_s: float, due_s: float, step: Step) -> Poll:
        first_ms = 1000 * (due_s - doze_s)
        slept_ms = 1000 * (wake_s - doze_s)
        arrivals = tuple(
            (first_ms + offset, size) for offset, size in step.buffered if first_ms + offset <= slept_ms
        )
        return Poll(slept_ms, sum(size for _, size in arrivals), len(arrivals), arrivals)
