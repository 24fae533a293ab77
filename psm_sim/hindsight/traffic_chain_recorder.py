"""Observers that record the traffic of a run without power saving as a :class:`Chain`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

from psm_sim.common.errors import InputError
from psm_sim.hindsight.traffic_chain import Chain, Step
from psm_sim.network import Observer, Topology, build_world
from psm_sim.network.browser import Visit
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies.always_on import AlwaysOn
from psm_sim.workload.page_view import Page


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
