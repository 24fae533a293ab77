"""Traffic of a sequence of pages as a chain of idle periods and activities.

A chain is recorded from a run without power saving. The duration of each activity and of each idle period is
fixed. A frame that is delivered late delays all later traffic by the same time. With this assumption the cost
of a sleep schedule can be computed exactly, both for policies and for the offline optimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from psm_sim.beacons import Beacons
from psm_sim.common.errors import InputError
from psm_sim.network import Observer, Topology, build_world
from psm_sim.network.browser import Visit
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies import Policy, Poll
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.policies.user_policy_guard import guard_policy
from psm_sim.workload.page_view import Page


class Step(NamedTuple):
    """One idle period and the activity that ends it.

    Attributes
    ----------
    idle_s, busy_s : float
        Durations of the idle period and of the activity, in seconds.
    downlink : bool
        Whether a frame from the access point ends the idle period. Otherwise the station sends.
    since_uplink_s : float
        Time from the last uplink packet to the end of the activity, in seconds; ``inf`` if it has none.
    buffered : tuple of (float, int)
        Offset in ms and size in bytes of each frame that the access point would buffer if the station
        dozed at the start of the activity.
    weight : float
        Weight of a second of delay of the activity.
    """

    idle_s: float
    downlink: bool
    busy_s: float
    since_uplink_s: float
    buffered: tuple[tuple[float, int], ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Chain:
    """Steps of a sequence of pages, with the beacons, powers (W) and beacon energy (J)."""

    steps: tuple[Step, ...]
    pages: int
    beacons: Beacons
    awake_w: float
    asleep_w: float
    beacon_j: float


class PolicyCost(NamedTuple):
    """Cost of a sleep schedule.

    Attributes
    ----------
    energy_j : float
        Energy, in joules.
    delay_s : float
        Total delay, in seconds.
    worst_stretch : float
        Maximum over all deliveries of the time since the last uplink packet, divided by the same time
        without delay.
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
        """Return when the activity that is due at *due_s* begins, and add the energy until then."""
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


class Frame(NamedTuple):
    """Frame on the wireless hop.

    Attributes
    ----------
    queued_s, done_s : float
        Time for which the frame keeps the radio awake, in seconds.
    downlink : bool
        Whether the frame is sent to the station.
    wire_bytes : int
        Size including headers, in bytes.
    """

    queued_s: float
    done_s: float
    downlink: bool
    wire_bytes: int


class FrameRecorder(Observer):
    """Observer that records the frames on the wireless hop in queueing order."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Record a frame. An uplink frame is done when it is sent, a downlink frame when it arrives."""
        if link.name == "wireless up":
            self.frames.append(Frame(queued_s, link.free_at, False, segment.wire_bytes))
        elif link.name == "wireless down":
            self.frames.append(Frame(queued_s, arrives_s, True, segment.wire_bytes))

    def steps(self) -> list[Step]:
        """Return the steps of the chain so far."""
        return _steps(self.frames)


def record_chain(pages: Sequence[Page], topology: Topology) -> Chain:
    """Load the pages without power saving, and return their traffic as a chain.

    Parameters
    ----------
    pages : sequence of Page
        Pages to load.
    topology : Topology
        The resolved topology.

    Raises
    ------
    InputError
        If the topology has faults or a time limit of a page, which a chain cannot represent.
    """
    return _record(pages, topology, FrameRecorder())


def _record(pages: Sequence[Page], topology: Topology, recorder: FrameRecorder) -> Chain:
    if topology.can_fail:
        raise InputError(
            "the offline optimum does not support faults or browser.max_page_s; remove them from the"
            " topology."
        )
    world, power = build_world(topology, AlwaysOn(), [recorder]), topology.power
    world.run(pages)
    steps = tuple(recorder.steps())
    return Chain(steps, len(pages), world.beacons, power.awake_w, power.asleep_w, power.beacon_j)


def _steps(frames: Sequence[Frame]) -> list[Step]:
    """Merge overlapping frames into activities, separated by idle periods."""
    steps: list[Step] = []
    idle_since_s, first = 0.0, 0
    while first < len(frames):
        begin_s, end_s = frames[first].queued_s, frames[first].done_s
        last = first + 1
        while last < len(frames) and frames[last].queued_s <= end_s:
            end_s = max(end_s, frames[last].done_s)
            last += 1
        steps.append(_step(frames[first:last], begin_s - idle_since_s, end_s - begin_s))
        idle_since_s, first = end_s, last
    return steps


def _step(frames: Sequence[Frame], idle_s: float, busy_s: float) -> Step:
    begin_s = frames[0].queued_s
    uplinks_s = [frame.queued_s for frame in frames if not frame.downlink]
    since_s = begin_s + busy_s - uplinks_s[-1] if uplinks_s else inf
    first_uplink_s = uplinks_s[0] if uplinks_s else inf
    buffered = tuple(
        (1000 * (frame.queued_s - begin_s), frame.wire_bytes)
        for frame in frames
        if frame.downlink and frame.queued_s <= first_uplink_s
    )
    return Step(idle_s, frames[0].downlink, busy_s, since_s, buffered)


def record_slowdowns(pages: Sequence[Page], topology: Topology) -> Chain:
    """Return the chain of :func:`record_chain` with delays weighted by their effect on the slowdown.

    The weight of a second of delay is one over the page time without power saving, and 0 outside pages.
    The weighted sum of all delays over the number of pages is therefore the mean slowdown minus 1.
    """
    return _record(pages, topology, _PageRecorder())


class _PageRecorder(FrameRecorder):
    def __init__(self) -> None:
        super().__init__()
        self.visits: list[Visit] = []

    def page(self, visit: Visit) -> None:
        self.visits.append(visit)

    def steps(self) -> list[Step]:
        return list(_weight_by_page(super().steps(), self.visits))


def _weight_by_page(steps: Sequence[Step], visits: Sequence[Visit]) -> Iterator[Step]:
    now_s, number = 0.0, 0
    for step in steps:
        begin_s = now_s + step.idle_s
        while number < len(visits) and visits[number].ended_s <= begin_s:
            number += 1
        within = number < len(visits) and visits[number].started_s <= begin_s
        length_s = visits[number].ended_s - visits[number].started_s if within else inf
        yield step._replace(weight=1 / length_s)
        now_s = begin_s + step.busy_s
