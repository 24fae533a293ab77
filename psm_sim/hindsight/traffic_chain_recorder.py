"""Traffic of a run without power saving as a :class:`Chain`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from psm_sim.common.errors import InputError
from psm_sim.hindsight.traffic_chain import Chain, Step
from psm_sim.network import Observer, Topology, World, build_world, run_alone
from psm_sim.network.browser import Visit
from psm_sim.network.link import Link
from psm_sim.network.segment import Segment
from psm_sim.policies.psm import AlwaysOn
from psm_sim.workload import Workload
from psm_sim.workload.messages import NO_MESSAGES, Messages
from psm_sim.workload.page_view import Page


class RecordedFrame(NamedTuple):
    """Frame on the wireless hop.

    Attributes
    ----------
    queued_s, done_s : float
        Start and end of the time for which the frame keeps the radio awake, in seconds.
    downlink : bool
        Whether the frame is sent to the station.
    wire_bytes : int
        Size including headers, in bytes.
    payload : int
        Size without headers, in bytes.
    """

    queued_s: float
    done_s: float
    downlink: bool
    wire_bytes: int
    payload: int


class _Recorder(Observer):
    """Observer that records the frames on the wireless hop in queueing order, and the pages."""

    def __init__(self) -> None:
        self.frames: list[RecordedFrame] = []
        self.visits: list[Visit] = []

    def frame(self, link: Link, queued_s: float, arrives_s: float, segment: Segment) -> None:
        """Record a frame. An uplink frame is done when it is sent, a downlink frame when it arrives."""
        if link.name in ("wireless up", "wireless down"):
            is_downlink = link.name == "wireless down"
            done_s = arrives_s if is_downlink else link.free_at
            self.frames.append(
                RecordedFrame(queued_s, done_s, is_downlink, segment.wire_bytes, segment.payload)
            )

    def page(self, visit: Visit) -> None:
        """Record a page."""
        self.visits.append(visit)


def record_chain(pages: Sequence[Page], topology: Topology) -> Chain:
    """Load the pages without power saving, and return their traffic as a chain.

    Raises
    ------
    InputError
        If the topology has faults or a time limit of a page, which a chain cannot represent.
    """
    recorder, world = _record(pages, topology)
    return _chain(world, pages, _steps(recorder.frames))


def record_slowdowns(pages: Sequence[Page], topology: Topology) -> Chain:
    """Return the chain of :func:`record_chain` with delays weighted by their effect on the slowdown.

    The weight of a delay is 1 / (page time without power saving), and 0 between pages. The sum of all
    weighted delays, divided by the number of pages, is therefore the mean slowdown minus 1.
    """
    recorder, world = _record(pages, topology)
    return _chain(world, pages, _weight_by_page(_steps(recorder.frames), recorder.visits))


def record_costs(workload: Workload, topology: Topology) -> tuple[Chain, float]:
    """Return the traffic as a chain, and the energy that the chain does not contain.

    The workload has pages, or messages during pauses. With pages, the total delay of a schedule is the sum of
    the delays within pages. With messages, the chain is open, and the total delay is the sum of the delays of
    all frames that carry data to the station.

    Returns
    -------
    tuple of (Chain, float)
        The float is the energy in joules that does not depend on the schedule: to sleep after the last step,
        to process frames, and to transmit (only the power above that of an awake radio).

    Raises
    ------
    InputError
        If the workload has both pages and messages, or for the reasons of :func:`record_chain`.
    """
    pages, messages = workload.pages, workload.messages
    if messages and any(page.objects for page in pages):
        raise InputError(
            f"trace {workload.name} has pages and messages; the offline optimum supports only one of them."
        )
    recorder, world = _record(pages, topology, messages)
    if messages:
        steps = _steps(recorder.frames, _count_messages)
    else:
        weighted = _weight_by_page(_steps(recorder.frames), recorder.visits)
        steps = [step._replace(weight=float(step.weight > 0)) for step in weighted]
    usage, power = world.usage(), topology.power
    rest_s = world.env.now - float(np.add.reduce([step.idle_s + step.busy_s for step in steps]))
    frames_j = usage.transmit_j - power.awake_w * usage.transmit_s + usage.frames_j
    chain = _chain(world, pages, steps, is_open=bool(messages))
    return chain, power.asleep_w * max(0.0, rest_s) + frames_j


def _record(
    pages: Sequence[Page], topology: Topology, messages: Messages = NO_MESSAGES
) -> tuple[_Recorder, World]:
    """Return the recorder and the world of a run without power saving."""
    if topology.can_fail:
        raise InputError(
            "the offline optimum does not support faults or browser.max_page_s; remove them from the"
            " topology."
        )
    recorder = _Recorder()
    world = build_world(topology, AlwaysOn(), [recorder])
    run_alone(world, pages, messages)
    return recorder, world


def _chain(world: World, pages: Sequence[Page], steps: Iterable[Step], is_open: bool = False) -> Chain:
    power = world.topology.power
    return Chain(
        tuple(steps), len(pages), world.beacons, power.awake_w, power.asleep_w, power.beacon_j, is_open
    )


def _count_messages(frames: Sequence[RecordedFrame]) -> float:
    """Return the number of frames that carry data to the station."""
    return float(sum(frame.downlink and frame.payload > 0 for frame in frames))


def _steps(
    frames: Sequence[RecordedFrame], weight: Callable[[Sequence[RecordedFrame]], float] = lambda _: 1.0
) -> list[Step]:
    """Merge overlapping frames into activities. *weight* returns the weight of an activity."""
    steps: list[Step] = []
    idle_since_s, first = 0.0, 0
    while first < len(frames):
        begin_s, end_s = frames[first].queued_s, frames[first].done_s
        last = first + 1
        while last < len(frames) and frames[last].queued_s <= end_s:
            end_s = max(end_s, frames[last].done_s)
            last += 1
        activity = frames[first:last]
        steps.append(_step(activity, begin_s - idle_since_s, end_s - begin_s, weight(activity)))
        idle_since_s, first = end_s, last
    return steps


def _step(frames: Sequence[RecordedFrame], idle_s: float, busy_s: float, weight: float) -> Step:
    begin_s = frames[0].queued_s
    uplinks_s = [frame.queued_s for frame in frames if not frame.downlink]
    since_s = begin_s + busy_s - uplinks_s[-1] if uplinks_s else inf
    first_uplink_s = uplinks_s[0] if uplinks_s else inf
    buffered = tuple(
        (1000 * (frame.queued_s - begin_s), frame.wire_bytes)
        for frame in frames
        if frame.downlink and frame.queued_s <= first_uplink_s
    )
    return Step(idle_s, frames[0].downlink, busy_s, since_s, buffered, weight)


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
