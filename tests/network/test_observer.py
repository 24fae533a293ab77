"""Observers: calls, their order, and unchanged runs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from psm_sim.network import EnergyLedger, Observer, World, load_topology, run_alone
from psm_sim.network.observers import ObserverHooks
from psm_sim.network.segment import Segment
from psm_sim.network.topology_sections import PowerParameters
from psm_sim.policies import Policy, Rest, make_policy
from psm_sim.workload import load_workload
from psm_sim.workload.page_view import Page
from tests.network.worlds import make_world, run_world

EVENTS = ("radio", "beacons", "rest", "frame", "page", "finish")
POLICIES = ["always-on", "psm:listen_interval=2", "bsd:p=0.5", "lpsm:uplink=keep"]


class Everything(Observer):
    """Record every call: the name of the event and its arguments."""

    def __init__(self):
        self.calls = []

    def of(self, event):
        return [arguments for name, *arguments in self.calls if name == event]

    def radio(self, time_s, awake):
        self.calls.append(("radio", time_s, awake))

    def beacons(self, first_s, count, every_s):
        self.calls.append(("beacons", first_s, count, every_s))

    def rest(self, time_s, poll, rest):
        self.calls.append(("rest", time_s, poll, rest))

    def frame(self, link, queued_s, arrives_s, segment):
        self.calls.append(("frame", queued_s, arrives_s, link.name, segment))

    def page(self, visit):
        self.calls.append(("page", visit.ended_s, visit))

    def finish(self, time_s):
        self.calls.append(("finish", time_s))


def watched(policy: str | Policy, release: str = "true") -> tuple[World, Everything]:
    seen, pages = Everything(), load_workload("ucb", 12, 4).pages
    return run_world(pages, policy, [seen], access_point__release_on_uplink=release), seen


@pytest.mark.parametrize("policy", POLICIES)
def test_an_observer_does_not_change_the_run(policy):
    """Events, pages and energy are bit-for-bit those of a run without observers."""
    world, _ = watched(policy)
    alone = run_world(load_workload("ucb", 12, 4).pages, policy)
    assert (list(world.visits), world.usage()) == (list(alone.visits), alone.usage())
    assert world.events > alone.events  # an observer of frames needs an event between the two uplink hops


def test_only_methods_that_a_class_overrides_are_called():
    """A plain observer is never called; the ledger is called for the radio and beacons only."""
    assert all(getattr(ObserverHooks([Observer(), Observer()]), event) == () for event in EVENTS)
    ledger = EnergyLedger(load_topology().power)
    audience = ObserverHooks([Observer(), ledger])
    assert (audience.radio, audience.beacons) == ((ledger.radio,), (ledger.beacons,))
    assert all(getattr(audience, event) == () for event in EVENTS if event not in ("radio", "beacons"))


@pytest.mark.parametrize("release", ["true", "false"])
@pytest.mark.parametrize("policy", POLICIES)
def test_times_never_decrease_within_an_event(policy, release):
    """The calls for radio, beacons, rests, frames and pages are each in order."""
    _, seen = watched(policy, release)
    for event in EVENTS:
        times_s = [arguments[0] for arguments in seen.of(event)]
        assert all(earlier <= later for earlier, later in pairwise(times_s))


@pytest.mark.parametrize("policy", POLICIES)
def test_all_earlier_states_of_the_radio_are_reported_before_the_end_of_a_page(policy):
    """A second ledger, read when page() is called, agrees with the world's own."""

    class Meter(EnergyLedger):
        def __init__(self):
            super().__init__(PowerParameters())
            self.readings = []

        def page(self, visit):
            self.readings.append(self.usage(visit.ended_s))

    meter = Meter()
    world = run_world(load_workload("ucb", 12, 4).pages, policy, [meter])
    assert meter.readings == [usage for _, usage in world.visits]


def test_the_radio_alternates_wakes_and_dozes_and_receives_beacons_only_while_dozing():
    """Each beacon is within a doze or at its end."""
    _, seen = watched("psm:listen_interval=2")
    changes = seen.of("radio")
    assert [awake for _, awake in changes] == [number % 2 == 1 for number in range(len(changes))]
    dozes = list(zip(changes[::2], changes[1::2], strict=False))
    for first_s, count, every_s in seen.of("beacons"):
        last_s = first_s + (count - 1) * every_s
        (doze,) = [(begin, end) for (begin, _), (end, _) in dozes if begin < first_s <= end]
        assert last_s <= doze[1] + 1e-9


def test_the_rest_hook_is_called_with_each_decision_of_the_policy():
    """All arguments are equal; the time since the last uplink packet follows from the frames."""
    policy, decisions = make_policy("lpsm"), []
    answer = policy.rest

    def rest(now_s, since_uplink_s, poll):
        decision = answer(now_s, since_uplink_s, poll)
        decisions.append([now_s, poll, decision])
        return decision

    policy.rest = rest
    _, seen = watched(policy)
    assert seen.of("rest") == decisions
    assert any(poll is not None and poll.buffered_frames for _, poll, _ in decisions)


def test_the_frame_hook_is_called_for_each_link_that_a_frame_passes():
    """The bytes are those that the hosts count; a frame enters the next link when it arrives."""
    world, seen = watched("always-on")
    bytes_on = dict.fromkeys(("wireless up", "wired up", "wired down", "wireless down"), 0)
    arrivals_s: dict[Segment, float] = {}
    for queued_s, arrives_s, name, segment in seen.of("frame"):
        bytes_on[name] += segment.wire_bytes
        if name in ("wired up", "wireless down"):
            assert queued_s == pytest.approx(arrivals_s[segment], abs=1e-9)
        arrivals_s[segment] = arrives_s
    assert bytes_on["wireless up"] == world.client.sent_bytes
    assert bytes_on["wired down"] == world.server.sent_bytes
    assert bytes_on["wireless down"] == world.client.received_bytes + world.wireless_down.in_flight_bytes


def test_the_page_and_finish_hooks_are_called():
    """The world has twelve visits, and finish() gets the end of the last one."""
    world, seen = watched("psm")
    assert [visit for _, visit in seen.of("page")] == [visit for visit, _ in world.visits]
    assert seen.calls[-1] == ("finish", world.visits[-1][0].ended_s)


def test_the_finish_hook_is_not_called_after_a_failed_run():
    """The policy fails at the second decision."""

    class Failing(Policy):
        name = "failing"

        def rest(self, now_s, since_uplink_s, poll):
            if now_s > 0:
                raise RuntimeError("no idea")
            return Rest()

    seen = Everything()
    with pytest.raises(RuntimeError, match="no idea"):
        run_world([Page(1.0, 2000, (), (300,), (0.0,))], Failing(), [seen])
    assert seen.of("finish") == []


def test_progress_counts_pages():
    """Each page has one call, with the number of complete pages."""
    done: list[int] = []
    world = make_world()
    world.progress = done.append
    run_alone(world, load_workload("ucb", 3, 1).pages)
    assert done == [1, 2, 3]
